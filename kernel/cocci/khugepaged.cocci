// SPDX-License-Identifier: MIT
// Calls of compactlab.h in mm/khugepaged.c.

@ header @
@@
#include "internal.h"
+#include "compactlab.h"

@ khugepaged @
expression gfp;
@@
 alloc_hugepage_khugepaged_gfpmask(void)
 {
-return gfp;
+return compactlab_khugepaged_gfp(gfp);
 }
