// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// Several transfers at a time.
extension CloudDatabase {
    /// The most assets under way at a time.
    private static let transfersMax = 4

    /// Carries out transfers. After an error that concerns more than one asset, no more jobs are started, and those
    /// under way are cancelled.
    ///
    /// - Returns: the outcome of each job. Jobs that were not started are cancelled too.
    func transfer<Item: Sendable, Value: Sendable>(
        _ jobs: [TransferJob<Item>], _ meter: TransferMeter,
        _ transfer: @escaping @Sendable (TransferJob<Item>, Report?) async throws(CKError) -> Value
    ) async -> [Result<Value, CKError>] {
        await withTaskGroup(of: (Int, Result<Value, CKError>).self) { group in
            var outcomes = [Result<Value, CKError>](
                repeating: .failure(CKError(.operationCancelled)), count: jobs.count)
            var (next, ended) = (0, 0)
            var isEnding = false
            while true {
                while !isEnding, next < jobs.count, next - ended < Self.transfersMax {
                    let (index, job) = (next, jobs[next])
                    group.addTask {
                        do throws(CKError) {
                            return (index, .success(try await transfer(job, meter.report(of: job.places))))
                        } catch {
                            return (index, .failure(error))
                        }
                    }
                    next += 1
                }
                guard let (index, outcome) = await group.next() else { return outcomes }
                ended += 1
                outcomes[index] = outcome
                if case .failure(let error) = outcome, !error.isAboutAsset {
                    isEnding = true
                    group.cancelAll()
                }
            }
        }
    }

    /// Why a whole call fails: the error that ended the other transfers, not their cancellation. Nil if each error
    /// concerns one asset only.
    static func reason<Value>(of outcomes: [Result<Value, CKError>]) -> CKError? {
        let failures = outcomes.compactMap { if case .failure(let error) = $0 { error } else { nil } }
        let wholes = failures.filter { !$0.isAboutAsset }
        return wholes.first { $0.code != .operationCancelled } ?? wholes.first
    }
}

/// One asset to be transferred.
struct TransferJob<Item: Sendable>: Sendable {
    let recordID: CKRecord.ID
    let content: FieldAsset
    let item: Item
    /// Its places in the ``TransferMeter``: all that have this content.
    var places: [Int]
}

/// Adds up the progress of each record's assets and reports it, one call at a time.
final class TransferMeter: Sendable {
    private struct State {
        var reached: [Int64]
        var totals: [CKRecord.ID: Int64] = [:]
    }

    private let recordIDs: [CKRecord.ID]
    private let progress: CloudDatabase.Progress?
    private let state: Locked<State>

    init(_ places: [(recordID: CKRecord.ID, byteCount: Int64)], _ progress: CloudDatabase.Progress?) {
        recordIDs = places.map(\.recordID)
        self.progress = progress
        var state = State(reached: places.map { _ in 0 })
        for place in places {
            state.totals[place.recordID] = place.byteCount.addingSaturated(state.totals[place.recordID] ?? 0)
        }
        self.state = Locked(state)
    }

    /// Reports the progress of one record's places. Nil if nobody wants it.
    func report(of places: [Int]) -> CloudDatabase.Report? {
        guard progress != nil else { return nil }
        return { self.reached($0, places: places) }
    }

    private func reached(_ byteCount: Int64, places: [Int]) {
        guard let progress, let first = places.first else { return }
        let recordID = recordIDs[first]
        // Under the lock, so that calls do not overtake each other. 1 is reported when the record itself is done.
        state.withLock { state in
            for place in places { state.reached[place] = max(state.reached[place], byteCount) }
            let sum = zip(recordIDs, state.reached).reduce(0 as Int64) { sum, place in
                place.0 == recordID ? sum.addingSaturated(place.1) : sum
            }
            let total = state.totals[recordID] ?? 0
            progress(recordID, total > 0 ? min(Double(sum) / Double(total), 0.999) : 0)
        }
    }
}

extension Int64 {
    /// The sum of two sizes, or the largest number: a server may name any size.
    fileprivate func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}

extension CKError {
    /// Whether the error says that the server does not have an asset, no longer has it, or has it damaged.
    var isServersLoss: Bool {
        code == .assetNotAvailable && userInfo[NSUnderlyingErrorKey] == nil
    }

    /// Marks the error of an upload that stands still. The server answers, so other uploads may go on.
    static let standstillKey = "TidemarkUploadStandsStill"

    var isOfStandingUpload: Bool { userInfo[Self.standstillKey] != nil }

    /// Marks the error of a download that stands still. It ends its call, so that no more files are waited for. Other
    /// zones may go on.
    static let stalledDownloadKey = "TidemarkDownloadStandsStill"

    /// Whether the error concerns one asset or record, and no others.
    var isAboutAsset: Bool {
        if isOfStandingUpload { return true }
        return switch code {
        case .assetFileNotFound, .assetFileModified, .assetNotAvailable, .limitExceeded, .quotaExceeded,
            .serverRejectedRequest, .invalidArguments, .internalError, .zoneNotFound, .userDeletedZone,
            .permissionFailure, .unknownItem:
            true
        default: false
        }
    }
}
