//===- OtherClients.h - Who else profiles this process -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_COLLECTOR_OTHERCLIENTS_H
#define OPTIMAS_COLLECTOR_OTHERCLIENTS_H

#include <string>
#include <vector>

namespace optimas::collector {

/// The profilers and debuggers whose libraries stand in \p Maps, the text of a
/// `/proc/PID/maps`: `Nsight Systems (/opt/…/libToolsInjection64.so)`. Each once.
std::vector<std::string> knownTools(const std::string &Maps);

/// The loaded objects, the program first, that were linked against a library whose name
/// begins with \p Prefix; the program itself as `the program itself`.
std::vector<std::string> objectsLinkedTo(const std::string &Prefix);

/// Both for this process and CUPTI, joined by commas; empty when nobody is found.
std::string otherClients();

} // namespace optimas::collector

#endif // OPTIMAS_COLLECTOR_OTHERCLIENTS_H
