// SPDX-License-Identifier: MIT
// Calls of compactlab.h in mm/slub.c.

@ header @
@@
#include "internal.h"
+#include "compactlab.h"

@ high_order @
identifier s, flags;
expression e;
@@
 allocate_slab(struct kmem_cache *s, gfp_t flags, ...)
 {
 <...
-e & ~__GFP_RECLAIM
+compactlab_slab_gfp(e & ~__GFP_RECLAIM, flags)
 ...>
 }
