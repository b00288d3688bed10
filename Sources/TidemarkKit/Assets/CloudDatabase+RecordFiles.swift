// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields

/// The files of records that are fetched. An asset's failure is its record's failure. But if the
/// connection or the account fails, the whole call ends, and can be made again. Files that no record got are taken back
/// then, so that the next call need not download them.
extension CloudDatabase {
    /// Decides what happens to a record if one of its assets is not available.
    enum MissingAssets {
        /// an error replaces the record.
        case failRecord
        /// For callers that cannot be given one record's error. The record comes without a file that the server does
        /// not have. Any other failure ends the call, so that no token moves past something that is still available
        /// (I-2).
        case leaveOut
    }

    /// The files of one record, one for each place.
    private typealias Files = [FieldAsset: [URL]]

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
        let outcomes = await transfer(jobs, meter) { job, report async throws(CKError) in
            try await download(job.content, of: job.recordID, report: report)
        }
        var results = results
        var files: [Int: Files] = [:]
        var reason = Self.reason(of: outcomes)
        for (job, outcome) in zip(jobs, outcomes) {
            switch outcome {
            case .success(let url): files[job.item, default: [:]][job.content] = [url]
            case .failure(let error) where missing == .failRecord: results[job.item].result = .failure(error)
            case .failure(let error): if !error.isServersLoss { reason = reason ?? error }
            }
        }
        if reason == nil { reason = await place(&files, in: &results, missing) }
        guard let reason else { return results }
        for files in files.values { await takeBack(files) }
        throw reason
    }

    /// Gives the records their files, and takes back those of records that have failed.
    ///
    /// - Parameter files: of the results with these indices. Afterwards with all copies.
    /// - Returns: the error of the whole call. Then no file of `files` was taken back.
    private func place(
        _ files: inout [Int: Files], in results: inout [(id: CKRecord.ID, result: Result<CKRecord, CKError>)],
        _ missing: MissingAssets
    ) async -> CKError? {
        var unused: [Int] = []
        for index in files.keys.sorted() {
            guard case .success(let record) = results[index].result else {
                unused.append(index)
                continue
            }
            do throws(CKError) {
                try await addCopies(to: &files[index, default: [:]], for: record.serverAssetPlaces)
                record.place(files[index] ?? [:])
            } catch {
                guard missing == .failRecord, error.isAboutAsset else { return error }
                results[index].result = .failure(error)
                unused.append(index)
            }
        }
        for index in unused { await takeBack(files[index] ?? [:]) }
        return nil
    }

    /// A file for each place, even for equal contents, so that the app can move each of them.
    private func addCopies(to files: inout Files, for places: [FieldAsset]) async throws(CKError) {
        var seen: Set<FieldAsset> = []
        for asset in places where !seen.insert(asset).inserted {
            guard let file = files[asset]?.first else { continue }
            let copy = try await FileThread.stay { () async throws(CKError) in try await AssetStaging.copy(file) }
            files[asset]?.append(copy)
        }
    }

    /// Takes back the files of records that nobody will get.
    func takeBackFiles(of results: some Sequence<Result<CKRecord, CKError>>) async {
        for case .success(let record) in results { await takeBack(record.files) }
    }

    private func takeBack(_ files: Files) async {
        guard !files.isEmpty else { return }
        let staging = connection.staging
        // Nothing of it fails.
        try? await FileThread.run { () throws(CKError) in
            for (content, urls) in files {
                for url in urls { staging.takeBack(url, content) }
            }
        }
    }
}
