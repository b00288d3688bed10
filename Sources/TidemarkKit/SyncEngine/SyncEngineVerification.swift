// SPDX-License-Identifier: Apache-2.0

/// Compares what an app has of a zone with what the server has, at one place of the zone's feed.
struct SyncEngineVerification: Sendable {
    /// How often it begins anew because the zone has changed meanwhile.
    private static let triesMax = 5

    let driver: SyncEngineDriver
    let zoneID: CKRecordZone.ID

    func run() async throws(CKError) -> TidemarkZoneComparison {
        guard zoneID.zoneName != CKRecordZone.ID.defaultZoneName else {
            throw CKError(.invalidArguments, message: "Engines do not sync the default zone.")
        }
        for _ in 0..<Self.triesMax {
            let held = try await held()
            if let comparison = try await compare(held) { return comparison }
        }
        throw CKError(
            .zoneBusy, message: "Others change the zone again and again. Try again after the delay.", retryAfter: 1)
    }

    /// What the app has, once it has everything that the server had.
    private func held() async throws(CKError) -> SyncEngineHeld {
        let (options, question) = (
            CKSyncEngine.FetchChangesOptions(scope: .zoneIDs([zoneID])), SyncEngineHeldQuestion(zoneID: zoneID)
        )
        try await driver.call { $0.fetchCalled($1, options, at: $2) }.get()
        try await driver.call { $0.heldCalled($1, question, at: $2) }.get()
        guard let held = question.answer else { throw CKError(.operationCancelled) }
        return held
    }

    /// - Returns: nil if the zone has changed since it was fetched.
    private func compare(_ held: SyncEngineHeld) async throws(CKError) -> TidemarkZoneComparison? {
        guard let changeTags = held.changeTags else {
            throw CKError(
                .invalidArguments,
                message: "The engine's delegate does not say what the app has. Implement "
                    + "heldChangeTags(in:syncEngine:) of TidemarkSyncEngineDelegate.")
        }
        guard let user = held.user else { throw CKError.noAccount }
        let head = try await driver.inventory(of: zoneID, listingAfter: nil, for: user)
        guard isCurrent(head, held) else { return nil }
        var difference = ZoneDifference(changeTags, in: zoneID, at: head.token)
        if difference.isSame(as: head) {
            return TidemarkZoneComparison(zoneID: zoneID, serverRecordCount: Int(clamping: head.recordCount))
        }
        var after: String? = ""
        while let name = after {
            guard !Task.isCancelled else { throw CKError(.operationCancelled) }
            let page = try await driver.inventory(of: zoneID, listingAfter: name, for: user)
            guard page.token == head.token else { return nil }
            difference.take(page.versions)
            after = page.next
        }
        // The server may not know how many there are.
        let comparison = TidemarkZoneComparison(zoneID: zoneID, serverRecordCount: difference.namedCount)
        return difference.report(comparison, pending: held.pending)
    }

    /// A zone of which nothing was ever fetched has no token yet: the app cannot have anything of it.
    private func isCurrent(_ inventory: SyncEngineInventory, _ held: SyncEngineHeld) -> Bool {
        held.token.map { $0 == inventory.token } ?? (!inventory.digest.isEmpty && inventory.recordCount == 0)
    }
}
