// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields
internal import TidemarkWire

/// The assets of records that are saved. An asset's failure is its record's failure. But if the connection or
/// the account fails, the whole call ends, and can be made again.
extension CloudDatabase {
    /// How much of a record's assets is transferred, from 0 to 1. Called one at a time.
    typealias Progress = @Sendable (CKRecord.ID, Double) -> Void

    /// The records to save, with the uploaded content of their assets.
    struct UploadedAssets {
        var contents: [CKRecord.ID: FieldObjects.Assets] = [:]
        var failures: [CKRecord.ID: CKError] = [:]
    }

    /// The data to send for one record's assets.
    private struct UploadPlan {
        /// The content of each asset that has a file to be sent.
        var contents: FieldObjects.Assets = [:]
        /// Content that occurs several times is sent once, and completes in all places at the same time.
        var jobs: [FieldAsset: TransferJob<AssetFile>] = [:]
    }

    /// Reads the files of all assets to be saved, then uploads what the server does not have.
    func uploadAssets(
        of records: [CKRecord], all: Bool, progress: Progress?
    ) async throws(CKError) -> UploadedAssets {
        let meter = await meter(ofAssetsOf: records, all: all, progress)
        var uploaded = UploadedAssets()
        var jobs: [TransferJob<AssetFile>] = []
        var nextPlace = 0
        for record in records {
            let assets = record.sentAssets(all: all)
            guard !assets.isEmpty else { continue }
            let places = nextPlace..<nextPlace + assets.count
            nextPlace = places.upperBound
            do throws(CKError) {
                let plan = try await plan(assets, of: record.recordID, places, meter)
                uploaded.contents[record.recordID] = plan.contents
                jobs += plan.jobs.values
            } catch {
                guard error.isAboutAsset else { throw error }
                uploaded.failures[record.recordID] = error
            }
        }
        let outcomes = await transfer(jobs, meter) { job, report async throws(CKError) in
            try await upload(job.item, for: job.recordID, report: report)
        }
        if let reason = Self.reason(of: outcomes) { throw reason }
        for case (let job, .failure(let error)) in zip(jobs, outcomes) { uploaded.failures[job.recordID] = error }
        return uploaded
    }

    /// Reads the files.
    ///
    /// - Parameter places: of the assets in the meter.
    private func plan(
        _ assets: [CKAsset], of recordID: CKRecord.ID, _ places: Range<Int>, _ meter: TransferMeter
    ) async throws(CKError) -> UploadPlan {
        var plan = UploadPlan()
        for (place, asset) in zip(places, assets) {
            let id = ObjectIdentifier(asset)
            if let content = plan.contents[id] {
                plan.jobs[content]?.places.append(place)
                continue
            }
            guard let file = try await file(of: asset, in: recordID.zoneID, meter.report(of: [place])) else { continue }
            let content = file.content
            let earlier = plan.jobs[content]?.places ?? []
            plan.contents[id] = content
            plan.jobs[content] = TransferJob(
                recordID: recordID, content: content, item: file, places: earlier + [place])
        }
        return plan
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
}
