#include "optimas/Transform/Edit.h"
