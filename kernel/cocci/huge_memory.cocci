// SPDX-License-Identifier: MIT
// Calls of compactlab.h in mm/huge_memory.c.

@ header @
@@
#include "internal.h"
+#include "compactlab.h"

@ fault @
expression gfp;
@@
 vma_thp_gfp_mask(...)
 {
 <...
-return gfp;
+return compactlab_fault_gfp(gfp);
 ...>
 }
