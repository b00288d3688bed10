// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKOperation {
    /// How an operation should be carried out.
    public typealias Configuration = CKOperationConfiguration
}

// NB: Not nested, so that its name at run time is CloudKit's.

/// How an operation should be carried out. Use its name `CKOperation.Configuration`.
public class CKOperationConfiguration: NSObject, NSCopying, @unchecked Sendable {
    /// The values that were set; nil for the group's, or else the default.
    private struct Settings {
        var container: CKContainer?
        var qualityOfService: QualityOfService?
        var allowsCellularAccess: Bool?
        var isLongLived: Bool?
        var timeoutIntervalForRequest: TimeInterval?
        var timeoutIntervalForResource: TimeInterval?
    }

    private let settings: Locked<Settings>

    /// The defaults.
    public override init() {
        settings = Locked(Settings())
        super.init()
    }

    private init(_ settings: Settings) {
        self.settings = Locked(settings)
        super.init()
    }

    /// The container of the work; nil for the default container.
    public var container: CKContainer? {
        get { settings.withLock { $0.container } }
        set { settings.withLock { $0.container = newValue } }
    }

    /// How urgent the work is; default `.default`.
    public var qualityOfService: QualityOfService {
        get { settings.withLock { $0.qualityOfService ?? .default } }
        set { settings.withLock { $0.qualityOfService = newValue } }
    }

    /// Stored, without effect here; default true.
    public var allowsCellularAccess: Bool {
        get { settings.withLock { $0.allowsCellularAccess ?? true } }
        set { settings.withLock { $0.allowsCellularAccess = newValue } }
    }

    /// Stored, without effect here; default false.
    public var isLongLived: Bool {
        get { settings.withLock { $0.isLongLived ?? false } }
        set { settings.withLock { $0.isLongLived = newValue } }
    }

    /// The seconds without progress after which a request fails. It may take ten times as long in all while its bytes move.
    /// Default 60, which also replaces values that are not positive or not a number.
    public var timeoutIntervalForRequest: TimeInterval {
        get { settings.withLock { $0.timeoutIntervalForRequest ?? 60 } }
        set { settings.withLock { $0.timeoutIntervalForRequest = newValue } }
    }

    /// The seconds after which the whole work fails, however many requests it takes: with the error of the last
    /// request, or with `networkFailure`. Default one week, which also replaces values that are not positive or not a
    /// number.
    public var timeoutIntervalForResource: TimeInterval {
        get { settings.withLock { $0.timeoutIntervalForResource ?? 604_800 } }
        set { settings.withLock { $0.timeoutIntervalForResource = newValue } }
    }

    /// How long a request may go without progress.
    var requestTimeout: Duration { Self.duration(timeoutIntervalForRequest, default: 60) }

    /// How long the whole work may take.
    var resourceTimeout: Duration { Self.duration(timeoutIntervalForResource, default: 604_800) }

    private static func duration(_ interval: TimeInterval, default standard: TimeInterval) -> Duration {
        .seconds(interval > 0 ? min(interval, intervalMax) : standard)
    }

    /// Ten years, in seconds: clocks and timers can count that far, and nobody waits longer.
    private static let intervalMax: TimeInterval = 315_360_000

    /// A new configuration with the settings of this one, and with those of `other` where this one has none.
    func merged(over other: CKOperationConfiguration?) -> CKOperationConfiguration {
        var settings = settings.withLock { $0 }
        guard let other else { return CKOperationConfiguration(settings) }
        let others = other.settings.withLock { $0 }
        settings.container = settings.container ?? others.container
        settings.qualityOfService = settings.qualityOfService ?? others.qualityOfService
        settings.allowsCellularAccess = settings.allowsCellularAccess ?? others.allowsCellularAccess
        settings.isLongLived = settings.isLongLived ?? others.isLongLived
        settings.timeoutIntervalForRequest = settings.timeoutIntervalForRequest ?? others.timeoutIntervalForRequest
        settings.timeoutIntervalForResource =
            settings.timeoutIntervalForResource ?? others.timeoutIntervalForResource
        return CKOperationConfiguration(settings)
    }

    /// An independent configuration with the same settings.
    public func copy(with zone: NSZone? = nil) -> Any {
        CKOperationConfiguration(settings.withLock { $0 })
    }
}
