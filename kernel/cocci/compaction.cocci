// SPDX-License-Identifier: MIT
// Calls of compactlab.h in mm/compaction.c.

@ header @
@@
#include "internal.h"
+#include "compactlab.h"

// The deferral events say whose state they print: here that of synchronous runs.
@ events @
expression z, o;
@@
(
 trace_mm_compaction_deferred(z, o
+	, true
 )
|
 trace_mm_compaction_defer_compaction(z, o
+	, true
 )
|
 trace_mm_compaction_defer_reset(z, o
+	, true
 )
)

@ asked @
expression z, o;
@@
 try_to_compact_pages(...)
 {
 <...
-compaction_deferred(z, o)
+(compaction_deferred(z, o) || compactlab_deferred(z, o, prio))
 ...>
 }

@ ended @
expression s, r;
@@
 try_to_compact_pages(...)
 {
 <...
 r = max(s, r);
+compactlab_run_ended(zone, order, prio, s);
 ...>
 }

@ reset @
identifier z, o, success;
@@
 void compaction_defer_reset(struct zone *z, int o, bool success)
 {
 ...
+compactlab_defer_reset(z, o, success);
 }

@ restart @
expression c, o;
@@
 if (compaction_restarting(c->zone, o)
+    && compactlab_may_restart(c->mode)
    ) __reset_isolation_suitable(...);

@ resample @
expression n, c, pfn, end;
expression list rest;
@@
 isolate_freepages(...)
 {
 <...
 n = isolate_freepages_block(c, &pfn, end, rest);
+if (compactlab_resample(&pfn, block_start_pfn, end, n, stride))
+	n = isolate_freepages_block(c, &pfn, end, rest);
 ...>
 }

@ migratable @
identifier z, o;
expression e;
@@
 __compaction_suitable(struct zone *z, int o, ...)
 {
 ...
-return e;
+return compactlab_enough_migratable(z, o) && (e);
 }
