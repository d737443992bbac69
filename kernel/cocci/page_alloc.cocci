// SPDX-License-Identifier: MIT
// Calls of compactlab.h in mm/page_alloc.c.

@ header @
@@
#include "internal.h"
+#include "compactlab.h"

@ slowpath @
expression gfp, order, ac;
@@
 __alloc_pages_slowpath(
-	gfp
+	compactlab_slowpath_gfp(gfp, order)
 	, order, ac)

// Only versions with vm.defrag_mode have this.
@ fragment @
expression gfp;
@@
 __alloc_pages_slowpath(...)
 {
 <...
-(gfp & __GFP_KSWAPD_RECLAIM)
+((gfp & __GFP_KSWAPD_RECLAIM) && compactlab_may_fragment(gfp))
 ...>
 }
