/* SPDX-License-Identifier: MIT */
#include <compactlab/explain.h>
#include "explain/verdict.h"

void cl_explain_rules(FILE *to)
{
	for (unsigned c = 0; c < CLASSES; c++) {
		fprintf(to, "%s  %s\n", class_table[c].id, class_table[c].name);
		for (unsigned k = 0; k < rule_count; k++) {
			const struct rule *r = &rule_table[k];

			if (r->class != c)
				continue;
			fprintf(to, "  %+d  %s\n      if %s\n      %s\n      see %s\n", r->weight,
				r->id, r->condition, r->text, r->reference);
		}
		for (unsigned k = 0; k < remedy_count; k++) {
			const struct remedy *r = &remedy_table[k];

			if (r->class != c)
				continue;
			fprintf(to, "  help  %s%s%s\n      %s\n", r->id, r->condition ? " if " : "",
				r->condition ? r->condition : "", r->what);
		}
		fputc('\n', to);
	}
}
