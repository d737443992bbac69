# SPDX-License-Identifier: MIT
# Edits include/trace/events/compaction.h: the deferral events say of which mode's state they are, and
# print that state's values. (coccinelle does not parse the macros that define events.)
/^(DECLARE_EVENT_CLASS|DEFINE_EVENT)\(mm_compaction_defer_template/ { inside = 1 }
inside && /TP_PROTO\(/ { sub(/\),?$/, ", bool sync&") }
inside && /TP_ARGS\(/ { sub(/\),?$/, ", sync&") }
inside && /TP_STRUCT__entry\(/ { print; print "\t\t__field(bool, sync)"; next }
inside && /TP_fast_assign\(/ { assign = 1; print; print "\t\t__entry->sync = sync;"; next }
assign && /^\t\),$/ {
	assign = 0
	print "\t\tif (!sync) {"
	print "\t\t\tstruct compactlab_defer d = compactlab_defer_state(zone);\n"
	print "\t\t\t__entry->considered = d.considered;"
	print "\t\t\t__entry->defer_shift = d.shift;"
	print "\t\t\t__entry->order_failed = d.order_failed;"
	print "\t\t}"
}
inside && /TP_printk\("/ { printing = sub(/",$/, " sync=%d\",") }
printing && /[^,]\)$/ { sub(/\)$/, ", __entry->sync)"); printing = 0 }
/^\);$/ { inside = 0 }
{ print }
