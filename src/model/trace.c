/* SPDX-License-Identifier: MIT */
/*
 * trace.c - events and their text form; see trace.h.
 */
#include "model/trace.h"

void trace_emit(struct model *m, struct trace_event *ev)
{
	ev->time = m->clock.now;
	ev->cpu = m->ctx.cpu;
	m->trace.fn(m->trace.ctx, ev);
}

size_t trace_format(const struct trace_event *ev, char *buf, size_t size)
{
	NOT_YET(ev, buf, size);
}

const char *trace_event_name(enum trace_id id)
{
	static const char *const names[NR_TRACE_EVENTS] = {
#define X(sym, system, event) [TRACE_##sym] = event,
		TRACE_EVENTS(X)
#undef X
	};

	return names[id];
}
