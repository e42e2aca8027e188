#include "optimas/Profile/Profile.h"
