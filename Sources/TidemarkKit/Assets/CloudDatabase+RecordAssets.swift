// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields
internal import TidemarkWire

/// The assets of records that are saved and fetched. An asset's failure is its record's failure. But if
/// the connection or the account fails, the whole call ends, and can be made again.
extension CloudDatabase {
    /// The most assets under way at a time.
    private static let transfersMax = 4

    /// How much of a record's assets is transferred, from 0 to 1. Called one at a time.
    typealias Progress = @Sendable (CKRecord.ID, Double) -> Void

    // MARK: Saving

    /// The records to save, with the uploaded content of their assets.
    struct UploadedAssets {
        var contents: [CKRecord.ID: FieldObjects.Assets] = [:]
        var failures: [CKRecord.ID: CKError] = [:]
    }

    /// Reads the files of all assets to be saved, then uploads what the server does not have.
    func uploadAssets(
        of records: [CKRecord], all: Bool, progress: Progress?
    ) async throws(CKError) -> UploadedAssets {
        var uploaded = UploadedAssets()
        var jobs: [TransferJob<AssetFile>] = []
        let meter = await meter(ofAssetsOf: records, all: all, progress)
        var place = 0
        for record in records {
            let assets = record.sentAssets(all: all)
            guard !assets.isEmpty else { continue }
            let places = place..<place + assets.count
            place = places.upperBound
            do throws(CKError) {
                var contents: FieldObjects.Assets = [:]
                // Content that occurs several times is sent once, and completes in all places at the same time.
                var files: [FieldAsset: (file: AssetFile, places: [Int])] = [:]
                for (place, asset) in zip(places, assets) {
                    if let content = contents[ObjectIdentifier(asset)] {
                        files[content]?.places.append(place)
                        continue
                    }
                    let report = meter.report(of: [place])
                    guard let file = try await file(of: asset, in: record.recordID.zoneID, report) else { continue }
                    contents[ObjectIdentifier(asset)] = file.content
                    files[file.content] = (file, (files[file.content]?.places ?? []) + [place])
                }
                uploaded.contents[record.recordID] = contents
                jobs += files.values.map {
                    TransferJob(recordID: record.recordID, content: $0.file.content, item: $0.file, places: $0.places)
                }
            } catch {
                guard error.isAboutAsset else { throw error }
                uploaded.failures[record.recordID] = error
            }
        }
        let outcomes = try await run(jobs, meter) { job, report async throws(CKError) in
            try await upload(job.item, for: job.recordID, report: report)
        }
        for (job, outcome) in zip(jobs, outcomes) {
            if case .failure(let error) = outcome { uploaded.failures[job.recordID] = error }
        }
        return uploaded
    }

    /// Counts large files from the first byte on, although they are sent before their hash is known.
    private func meter(
        ofAssetsOf records: [CKRecord], all: Bool, _ progress: Progress?
    ) async -> TransferMeter {
        guard progress != nil else { return TransferMeter([], nil) }
        var places: [(CKRecord.ID, Int64)] = []
        for record in records {
            for asset in record.sentAssets(all: all) { places.append((record.recordID, await byteCount(of: asset))) }
        }
        return TransferMeter(places, progress)
    }

    /// 0 if the size is unknown: reading the file will show why.
    private func byteCount(of asset: CKAsset) async -> Int64 {
        guard let url = asset.fileURL else { return 0 }
        return (try? await FileThread.run { () throws(CKError) in try AssetSource(url).byteCount }) ?? 0
    }

    /// Nil for an asset that was fetched and that the server still has.
    private func file(
        of asset: CKAsset, in zoneID: CKRecordZone.ID, _ report: Report?
    ) async throws(CKError) -> AssetFile? {
        if let content = asset.descriptor {
            guard asset.fileURL != nil, try await !prepareUpload(of: content, for: zoneID).isComplete else {
                await tell(report, content.byteCount)
                return nil
            }
        }
        guard let url = asset.fileURL else {
            throw CKError(
                .assetNotAvailable,
                text: "An asset to be saved has no file. Fetch the record again, or set a new asset.")
        }
        return try await read(url, for: zoneID, report: report)
    }

    // MARK: Fetching

    /// What happens to a record one of whose assets is not available.
    enum MissingAssets {
        /// an error replaces the record.
        case failRecord
        /// For callers that cannot be given one record's error. The record comes without a file that the server does
        /// not have. Any other failure ends the call, so that no token moves past something that is still available
        /// (I-2).
        case leaveOut
    }

    /// Downloads the assets of fetched records.
    ///
    /// - Returns: the results, with a failure instead of a record one of whose assets is not available.
    func withFiles(
        _ results: [(id: CKRecord.ID, result: Result<CKRecord, CKError>)], missing: MissingAssets = .failRecord,
        progress: Progress? = nil
    ) async throws(CKError) -> [(id: CKRecord.ID, result: Result<CKRecord, CKError>)] {
        var jobs: [TransferJob<Int>] = []
        for (index, result) in results.enumerated() {
            guard case .success(let record) = result.result else { continue }
            for asset in record.serverAssets {
                jobs.append(TransferJob(recordID: result.id, content: asset, item: index, places: [jobs.count]))
            }
        }
        guard !jobs.isEmpty else { return results }
        let meter = TransferMeter(jobs.map { ($0.recordID, $0.content.byteCount) }, progress)
        let outcomes = try await run(jobs, meter) { job, report async throws(CKError) in
            try await download(job.content, of: job.recordID, report: report)
        }
        var results = results
        var files: [Int: [FieldAsset: URL]] = [:]
        for (job, outcome) in zip(jobs, outcomes) {
            switch outcome {
            case .success(let url): files[job.item, default: [:]][job.content] = url
            case .failure(let error) where missing == .failRecord: results[job.item].result = .failure(error)
            case .failure(let error): guard error.isServersLoss else { throw error }
            }
        }
        for (index, files) in files {
            guard case .success(let record) = results[index].result else { continue }
            do throws(CKError) {
                record.place(try await copied(files, for: record.serverAssetPlaces))
            } catch {
                guard missing == .failRecord else { throw error }
                results[index].result = .failure(error)
            }
        }
        return results
    }

    /// A file for each place, even for equal contents, so that the app can move each of them.
    private func copied(
        _ files: [FieldAsset: URL], for places: [FieldAsset]
    ) async throws(CKError) -> [FieldAsset: [URL]] {
        var copies: [FieldAsset: [URL]] = [:]
        for asset in places {
            guard let file = files[asset] else { continue }
            guard copies[asset] != nil else {
                copies[asset] = [file]
                continue
            }
            let copy = try await FileThread.run { () throws(CKError) in try AssetStaging.copy(file) }
            copies[asset]?.append(copy)
        }
        return copies
    }

    // MARK: Several at a time

    private func run<Item: Sendable, Value: Sendable>(
        _ jobs: [TransferJob<Item>], _ meter: TransferMeter,
        _ transfer: @escaping @Sendable (TransferJob<Item>, Report?) async throws(CKError) -> Value
    ) async throws(CKError) -> [Result<Value, CKError>] {
        guard !jobs.isEmpty else { return [] }
        let outcomes = await withTaskGroup(of: (Int, Result<Value, CKError>).self) { group in
            var outcomes: [Int: Result<Value, CKError>] = [:]
            var next = 0
            var isEnding = false
            while outcomes.count < next || (next < jobs.count && !isEnding) {
                while next < jobs.count, !isEnding, next - outcomes.count < Self.transfersMax {
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
                guard let (index, outcome) = await group.next() else { break }
                outcomes[index] = outcome
                if case .failure(let error) = outcome, !error.isAboutAsset, !isEnding {
                    isEnding = true
                    group.cancelAll()
                }
            }
            return outcomes
        }
        var results: [Result<Value, CKError>] = []
        // The reason is the error that ended the others, not their cancellation.
        let failures = outcomes.values.compactMap { if case .failure(let error) = $0 { error } else { nil } }
        let wholes = failures.filter { !$0.isAboutAsset }
        if let whole = wholes.first(where: { $0.code != .operationCancelled }) ?? wholes.first { throw whole }
        for index in jobs.indices {
            guard let outcome = outcomes[index] else { throw Self.wrongAnswer(to: .uploadAssetChunk) }
            results.append(outcome)
        }
        return results
    }
}

/// One asset to be transferred.
struct TransferJob<Item: Sendable>: Sendable {
    let recordID: CKRecord.ID
    let content: FieldAsset
    let item: Item
    /// Its places in the ``TransferMeter``: all that have this content.
    let places: [Int]
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
        for place in places { state.totals[place.recordID, default: 0] += place.byteCount }
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
            let sum = zip(recordIDs, state.reached).reduce(0) { $0 + ($1.0 == recordID ? $1.1 : 0) }
            let total = state.totals[recordID] ?? 0
            progress(recordID, total > 0 ? min(Double(sum) / Double(total), 0.999) : 0)
        }
    }
}

extension CKError {
    /// Whether the error says that the server does not have an asset, no longer has it, or has it damaged.
    var isServersLoss: Bool {
        code == .assetNotAvailable && userInfo[NSUnderlyingErrorKey] == nil
    }

    /// Whether the error concerns one asset or record, and no others.
    var isAboutAsset: Bool {
        switch code {
        case .assetFileNotFound, .assetFileModified, .assetNotAvailable, .limitExceeded, .quotaExceeded,
            .serverRejectedRequest, .invalidArguments, .internalError, .zoneNotFound, .userDeletedZone,
            .permissionFailure, .unknownItem:
            true
        default: false
        }
    }
}
