//===- Replay.h - Recorded evaluations -*- C++ -*-===//
//
// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What was found out on a GPU can be shown where there is none. A recording holds the
/// outcome of every candidate under a key made of the candidate's sources and the
/// compile command, both free of the machine's paths. Whatever does not match is
/// *not-measured*, with what differs; it is never given a verdict. A recording of another
/// run than the one asked for is refused as a whole.
///
//===----------------------------------------------------------------------===//
#ifndef OPTIMAS_EVALUATE_REPLAY_H
#define OPTIMAS_EVALUATE_REPLAY_H

#include "optimas/Evaluate/Pipeline.h"
#include "llvm/Support/JSON.h"

namespace optimas {

constexpr unsigned RecordingVersion = 1;

/// The compile command without what differs between machines: launchers and the
/// compiler's folder, outputs, dependency files, the host compiler; the project's, the
/// build's and the toolkit's folders become `<root>`, `<build>`, `<cuda>`.
std::string normalisedCommand(const CompileCommand &Command, llvm::StringRef ProjectRoot,
                              llvm::StringRef BuildDir, llvm::StringRef CudaPath);

/// SHA-256 over the normalised command and, of every file that \p Set changes, its path
/// from the project's root and its new content.
std::string candidateKey(const Subject &S, const EvaluationOptions &O, const EditSet &Set);

/// The recorded form of an outcome, and back. The edit set is not part of it: a replay
/// has its own.
llvm::json::Object outcomeJson(const CandidateOutcome &C);
llvm::Expected<CandidateOutcome> outcomeFrom(const llvm::json::Object &O);

/// What was run for a recording, or is asked for now. Paths are free of the machine's
/// folders as in normalisedCommand.
struct RunAsked {
  std::string Program; ///< file name of what --run starts; empty without --run
  std::vector<std::string> Args; ///< its arguments
  std::vector<std::vector<std::string>> Inputs; ///< argument lists of --inputs
  std::vector<std::string> OutputFiles, Masks;
  std::string Device;   ///< name of the card that ran it; empty when only asked for
  std::string Profiled; ///< name of the card of the profile; empty when unknown
};

/// What \p O and the device of the subject's profile ask for. \p RunArgs and \p Inputs are
/// --run and --inputs, read.
RunAsked runAsked(const Subject &S, const EvaluationOptions &O,
                  llvm::ArrayRef<std::string> RunArgs, llvm::ArrayRef<InputSet> Inputs);

/// A whole recording (docs/schemas/evaluation-record.schema.json).
struct Recording {
  std::string Machine, Date, Compiler, Command;
  std::map<std::string, std::string> Sources; ///< path from the root → SHA-256, unedited
  std::optional<RunAsked> Ran; ///< absent in recordings older than the field
  std::vector<CandidateOutcome> Candidates;
  std::optional<CandidateOutcome> Final;
  std::vector<Ablation> Ablations;
  Agreement Agreed; ///< EAR's result agreement; metrics without evidence ids
  std::vector<std::string> Notes;
};

std::string toJson(const Recording &R);
/// EvidenceUnusable on anything that is no recording of version RecordingVersion or
/// earlier.
llvm::Expected<Recording> parseRecording(llvm::StringRef Bytes, llvm::StringRef Name);

/// `<Dir>/<source's stem>.evaluation.json`.
std::string recordingPath(llvm::StringRef Dir, llvm::StringRef Source);

/// `NVIDIA H200, driver 580.159, 2026-01-31`.
std::string recordedOn(const Recording &R);

/// What forbids the use of \p R for this subject: another command, another source. Empty
/// when it fits.
std::string whyNot(const Recording &R, const Subject &S, const EvaluationOptions &O);

/// EvidenceUnusable when \p R was recorded of another run than \p Asked: other arguments,
/// inputs that it was not validated with, another card, a laxer comparison. What the
/// recording does not say cannot be compared: returned, one sentence each, for the report.
llvm::Expected<std::vector<std::string>> checkRun(const Recording &R, const RunAsked &Asked,
                                                  llvm::StringRef File);

} // namespace optimas

#endif // OPTIMAS_EVALUATE_REPLAY_H
