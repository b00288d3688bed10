// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Fetches zones.
open class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The zones to fetch; nil for all (see ``fetchAllRecordZonesOperation()``).
    public final var recordZoneIDs: [CKRecordZone.ID]?

    /// Each zone, or why it could not be fetched.
    public final var perRecordZoneResultBlock: ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
    /// The result of the operation: success if the server was asked, whatever became of single zones.
    public final var fetchRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?

    private var completion: (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?

    /// The fetched zones, and the error of the operation; `partialFailure` has the errors of the zones that failed.
    @available(*, deprecated, message: "Use fetchRecordZonesResultBlock")
    public final var fetchRecordZonesCompletionBlock: (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    /// Fetches all zones.
    public override init() {
        super.init()
    }

    /// Fetches the named zones.
    public convenience init(recordZoneIDs zoneIDs: [CKRecordZone.ID]) {
        self.init()
        recordZoneIDs = zoneIDs
    }

    /// Fetches all zones of the database, with the default zone.
    ///
    /// The operation is of exactly this class, so that subclasses do not have to have its `init()`.
    public class func fetchAllRecordZonesOperation() -> CKFetchRecordZonesOperation {
        CKFetchRecordZonesOperation()
    }

    override func perform() async {
        let ids = recordZoneIDs
        let answer = await withCloud { cloud throws(CKError) in
            guard let ids else {
                return try await cloud.allZones().map { ($0.zoneID, Result<CKRecordZone, CKError>.success($0)) }
            }
            let results = try await cloud.zones(for: ids)
            var seen: Set<CKRecordZone.ID> = []
            return ids.filter { seen.insert($0).inserted }.compactMap { id in results[id].map { (id, $0) } }
        }
        switch answer {
        case .failure(let error): end([:], .failure(error))
        case .success(let results): tell(results)
        }
    }

    private func tell(_ results: [(CKRecordZone.ID, Result<CKRecordZone, CKError>)]) {
        var errors: [AnyHashable: any Error] = [:]
        var zones: [CKRecordZone.ID: CKRecordZone] = [:]
        for (id, result) in results where !isCancelled {
            switch result {
            case .success(let zone): zones[id] = zone
            case .failure(let error): errors[id] = error
            }
            perRecordZoneResultBlock?(id, result.erased)
        }
        end(zones, outcome(of: errors))
    }

    private func end(_ zones: [CKRecordZone.ID: CKRecordZone], _ outcome: Result<Void, any Error>) {
        fetchRecordZonesResultBlock?(outcome.ofWhole)
        switch outcome {
        case .success: completion?(zones, nil)
        case .failure(let error): completion?(zones, error)
        }
    }
}
