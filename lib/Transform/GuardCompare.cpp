//===- GuardCompare.cpp - What an edit added, changed or lost -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GuardFacts.h"
#include "GuardNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace optimas {

static RuleHit hit(StringRef Rule, const Twine &Message, bool CannotProve = false) {
  return {Rule, Message.str(), CannotProve};
}

EditPolicy policyFor(bool Trusted, StringRef Transformation) {
  EditPolicy P;
  P.Trusted = Trusted;
  // The catalogue's own names are chosen not to occur in the function.
  P.FreshDeclarations = Trusted;
  P.RemovesBarriers = Trusted && Transformation == "optimas-remove-barrier";
  return P;
}

static MaybeHit compareControl(const CodeFacts &Old, const CodeFacts &New) {
  if (New.Gotos > Old.Gotos || New.Throws > Old.Throws)
    return hit("guard-control-flow", "a new goto, throw or try is refused");
  for (const std::string &L : New.Labels)
    if (!Old.Labels.count(L))
      return hit("guard-control-flow", "the new label '" + L + "' is refused");
  if ((New.Returns != 0) != (Old.Returns != 0))
    return hit("guard-control-flow",
               Twine(New.Returns ? "the edit returns from the function and the "
                                   "replaced text does not"
                                 : "the replaced text returns from the function and "
                                   "the edit does not"),
               /*CannotProve=*/true);
  if ((New.Breaks != 0) != (Old.Breaks != 0) ||
      (New.Continues != 0) != (Old.Continues != 0))
    return hit("guard-control-flow",
               "a break or continue that leaves the edited statements was added or "
               "removed; replace the whole loop to change where it goes",
               /*CannotProve=*/true);
  return std::nullopt;
}

static MaybeHit compareDeclarations(const CodeFacts &Old, const CodeFacts &New,
                                    const std::set<std::string> &Words,
                                    const EditPolicy &Policy) {
  for (const auto &[Name, Type] : New.Leaked) {
    auto It = Old.Leaked.find(Name);
    bool Padded = Old.Shared.count(Name) && New.Shared.count(Name);
    if (It != Old.Leaked.end() && (It->second == Type || Padded))
      continue;
    if (It != Old.Leaked.end())
      return hit("guard-declaration-lost", "'" + Name + "' was of type '" +
                                               It->second + "' and is now '" + Type +
                                               "'; keep its type");
    if (Policy.FreshDeclarations && !Words.count(Name))
      continue;
    return hit("guard-declaration-leak",
               "'" + Name + "' is declared beside the edited statements and stays "
                            "visible after them; put the new code into braces");
  }
  for (const std::string &Name : New.LeakedOther)
    if (!Old.LeakedOther.count(Name))
      return hit("guard-declaration-leak",
                 "the declaration of '" + Name +
                     "' stays visible after the edited statements; put the new code "
                     "into braces");
  for (const std::string &Name : Old.UsedOutside)
    if (!New.Leaked.count(Name) && !New.LeakedOther.count(Name))
      return hit("guard-declaration-lost",
                 "'" + Name + "' is declared by the replaced text and used after it; "
                              "the edit must declare it with the same type");
  return std::nullopt;
}

static MaybeHit compareShared(const std::string &Name, const SharedFact &New,
                              const CodeFacts &Old) {
  auto It = Old.Shared.find(Name);
  if (It == Old.Shared.end())
    return hit("guard-state", "the new __shared__ variable '" + Name +
                                  "' is refused; the replaced text declares none of "
                                  "that name");
  const SharedFact &Was = It->second;
  if (Was.Element != New.Element)
    return hit("guard-shared-memory", "the elements of '" + Name + "' were '" +
                                          Was.Element + "' and are now '" +
                                          New.Element + "'");
  bool Fits = Was.Extents.size() == New.Extents.size();
  for (size_t I = 0; Fits && I < New.Extents.size(); ++I)
    Fits = New.Extents[I] >= Was.Extents[I];
  if (!Fits)
    return hit("guard-shared-memory",
               "'" + Name + "' may get longer rows (padding), not other dimensions or "
                            "shorter ones");
  return std::nullopt;
}

static MaybeHit compareState(const CodeFacts &Old, const CodeFacts &New,
                             const CodeFacts &Whole) {
  for (const auto &[Name, Fact] : New.Shared)
    if (MaybeHit H = compareShared(Name, Fact, Old))
      return H;
  for (const auto &[Name, Type] : New.Statics) {
    auto It = Old.Statics.find(Name);
    if (It == Old.Statics.end() || It->second != Type)
      return hit("guard-state", "the new static or extern variable '" + Name +
                                    "' is refused");
  }
  for (const std::string &Name : New.Globals)
    if (!Whole.Globals.count(Name))
      return hit("guard-global-access", "the function did not use the global variable "
                                        "'" + Name + "' before; only constants may be "
                                        "used anew");
  for (const std::string &Text : New.Asm)
    if (!Old.Asm.count(Text))
      return hit("guard-asm", "inline assembly may stay as it was, not change");
  if (New.News > Old.News)
    return hit("guard-side-effect", "new and delete are refused in device code");
  return std::nullopt;
}

static std::string listed(const std::map<std::string, unsigned> &Counts) {
  std::vector<std::string> Words;
  for (const auto &[Name, Count] : Counts)
    Words.push_back((Name + " × " + Twine(Count)).str());
  return Words.empty() ? "none" : join(Words, ", ");
}

static MaybeHit compareCalls(const CodeFacts &Old, const CodeFacts &New,
                             const EditPolicy &Policy) {
  for (const auto &[Name, Fact] : New.Callees) {
    auto Was = Old.Callees.find(Name);
    // The program's own function of the name that a library's had is another one.
    if (Was != Old.Callees.end() && (Was->second.InProject || !Fact.InProject))
      continue;
    if (isBarrier(Name) || isAtomic(Name))
      continue;
    StringRef Sharper = ruleAgainstCall(Name);
    if (!Sharper.empty())
      return hit(Sharper, "the call of '" + Name + "' is new in this place");
    // How the catalogue moves a vector without aliasing; a model has no need of it.
    if (Policy.Trusted && Name == "__builtin_memcpy")
      continue;
    if (!isAllowedCall(Name) || Fact.InProject)
      return hit("guard-call",
                 "'" + Name + "' is not called by the replaced text and is not on the "
                              "list of device functions without state "
                              "(docs/guard-rules.md)");
  }
  if (New.Atomics != Old.Atomics)
    return hit("guard-atomic", "atomics must stay as they are: " + listed(Old.Atomics) +
                                   " before, " + listed(New.Atomics) + " after",
               /*CannotProve=*/true);
  auto BlockWide = [](std::map<std::string, unsigned> Counts) {
    Counts.erase("__syncwarp"); // adds no wait that the warp's own code does not have
    return Counts;
  };
  auto Before = BlockWide(Old.Barriers), After = BlockWide(New.Barriers);
  bool WarpLost = Old.Barriers.count("__syncwarp") && !New.Barriers.count("__syncwarp");
  if (Before != After || WarpLost) {
    bool Fewer = all_of(After, [&](const auto &P) {
      auto It = Before.find(P.first);
      return It != Before.end() && P.second <= It->second;
    });
    if (!(Fewer && Policy.RemovesBarriers))
      return hit("guard-barrier", "barriers and fences must stay as they are: " +
                                      listed(Old.Barriers) + " before, " +
                                      listed(New.Barriers) + " after",
                 /*CannotProve=*/true);
  }
  return std::nullopt;
}

static MaybeHit compareWidths(const std::map<std::string, unsigned> &Old,
                              const std::map<std::string, unsigned> &New) {
  for (const auto &[Name, Bits] : New) {
    auto It = Old.find(Name);
    if (It != Old.end() && Bits < It->second)
      return hit("guard-type-narrowing", "'" + Name + "' had " + Twine(It->second) +
                                             " bits and now has " + Twine(Bits));
  }
  return std::nullopt;
}

/// By the name that a finding prints. A launch expression in a template may count in a
/// dependent type, whose instantiations the catalogue has looked at.
static bool isIntegerType(StringRef Name) {
  return Name == "a dependent type" || Name.contains("int") || Name.contains("long") || Name.contains("short") ||
         Name.contains("char") || Name == "size_t" || Name == "unsigned";
}

static MaybeHit compareTypes(const CodeFacts &Old, const CodeFacts &New,
                             const EditPolicy &Policy) {
  for (const auto &P : New.Narrowings)
    // The catalogue computes indices wider than the loop does, so that they cannot
    // overflow, and proves that what goes back fits.
    if (!Old.Narrowings.count(P) &&
        !(Policy.Trusted && isIntegerType(P.first) && isIntegerType(P.second)))
      return hit("guard-type-narrowing", "a value of type '" + P.first +
                                             "' is converted to '" + P.second +
                                             "', which the replaced text does not do");
  if (MaybeHit H = compareWidths(Old.FloatBits, New.FloatBits))
    return H;
  if (MaybeHit H = compareWidths(Old.IntBits, New.IntBits))
    return H;
  // `x * 0.4f` where `x * 0.4` was: no conversion shows that double is gone.
  for (const auto &[Operator, Bits] : New.FloatOperators) {
    auto It = Old.FloatOperators.find(Operator);
    if (It != Old.FloatOperators.end() && Bits < It->second)
      return hit("guard-type-narrowing", "the replaced text computes '" + Operator +
                                             "' in " + Twine(It->second) +
                                             " bits of floating point, the edit in " +
                                             Twine(Bits));
  }
  if (New.WidestInt && New.WidestInt < Old.WidestInt)
    return hit("guard-type-narrowing", "the replaced text computes in " +
                                           Twine(Old.WidestInt) +
                                           " bits of integer, the edit in " +
                                           Twine(New.WidestInt) + ": it could overflow",
               /*CannotProve=*/true);
  for (const std::string &Name : Old.Volatile)
    if (!New.Volatile.count(Name))
      return hit("guard-volatile", "'" + Name + "' is volatile and was accessed by the "
                                                "replaced text; the edit drops that");
  for (const auto &P : New.CastAways)
    if (!Old.CastAways.count(P))
      return hit("guard-cast-away", "the cast from '" + P.first + "' to '" + P.second +
                                        "' drops const or volatile");
  // The catalogue makes no address; what it asks of one (its alignment) it has proved.
  for (const std::string &What : New.Addresses)
    if (!Policy.Trusted && !Old.Addresses.count(What))
      return hit("guard-cast-away",
                 What + ", which the replaced text does not do: what the address then "
                        "reaches cannot be told");
  return std::nullopt;
}

static MaybeHit compareReads(const CodeFacts &New, const CodeFacts &Whole) {
  for (const std::string &Name : New.Reads)
    if (!Whole.Reads.count(Name))
      return hit("guard-output-read",
                 "the edit reads the memory of '" + Name +
                     "', of which the function read nothing before: nobody may have "
                     "written it yet, or another thread may be writing it",
                 /*CannotProve=*/true);
  return std::nullopt;
}

MaybeHit compareFacts(const CodeFacts &Old, const CodeFacts &New,
                      const CodeFacts &Whole, const std::set<std::string> &Words,
                      const EditPolicy &Policy) {
  if (New.EscapesAtLine)
    return hit("guard-outside-changed",
               "the statement that begins on line " + Twine(New.EscapesAtLine) +
                   " of the edited file takes in code after the edit");
  if (!Policy.Trusted && New.Lambdas > Old.Lambdas)
    return hit("guard-type-definition", "a new lambda is refused");
  if (MaybeHit H = compareState(Old, New, Whole))
    return H;
  if (MaybeHit H = compareDeclarations(Old, New, Words, Policy))
    return H;
  if (MaybeHit H = compareControl(Old, New))
    return H;
  if (MaybeHit H = compareCalls(Old, New, Policy))
    return H;
  if (MaybeHit H = compareTypes(Old, New, Policy))
    return H;
  return compareReads(New, Whole);
}

} // namespace optimas
