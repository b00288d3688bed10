// SPDX-License-Identifier: Apache-2.0

/// The bus of a store that tells its servers by itself, as one in memory does. It is listened to there.
package struct StorageNoticeBus: NoticeBus {
    private let service: CloudService

    package init(_ service: CloudService) {
        self.service = service
    }

    package var pace: PostingPace { .quickest }
    package var returnsOwn: Bool { true }

    package func publish(_ notices: [ServerNotice]) async -> Bool {
        if case .success = await service.post(notices) { true } else { false }
    }

    /// Each server hears everything.
    package func follow(_ topics: [BusTopic]) {}
    package func leave(_ topics: [BusTopic]) {}

    /// The store calls the listeners.
    package func start(
        onNotices: @escaping @Sendable ([ServerNotice]) -> Void, onGap: @escaping @Sendable () -> Void
    ) {}

    package func stop() {}
}
