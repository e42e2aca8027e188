#include "optimas/Report/Report.h"
