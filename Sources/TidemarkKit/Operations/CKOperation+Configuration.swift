// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKOperation {
    /// How operations are to be done.
    public class Configuration: NSObject, NSCopying, @unchecked Sendable {
        /// What was set; nil: the group's, or else the default.
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

        /// Whose work it is; nil for the default container.
        public var container: CKContainer? {
            get { settings.withLock { $0.container } }
            set { settings.withLock { $0.container = newValue } }
        }

        /// How urgent it is; default `.default`.
        public var qualityOfService: QualityOfService {
            get { settings.withLock { $0.qualityOfService ?? .default } }
            set { settings.withLock { $0.qualityOfService = newValue } }
        }

        /// Kept, without meaning here; default true.
        public var allowsCellularAccess: Bool {
            get { settings.withLock { $0.allowsCellularAccess ?? true } }
            set { settings.withLock { $0.allowsCellularAccess = newValue } }
        }

        /// Kept, without meaning here; default false.
        public var isLongLived: Bool {
            get { settings.withLock { $0.isLongLived ?? false } }
            set { settings.withLock { $0.isLongLived = newValue } }
        }

        /// Seconds without progress after which a request is given up; default 60.
        public var timeoutIntervalForRequest: TimeInterval {
            get { settings.withLock { $0.timeoutIntervalForRequest ?? 60 } }
            set { settings.withLock { $0.timeoutIntervalForRequest = newValue } }
        }

        /// Seconds after which all of the work is given up; default a week.
        public var timeoutIntervalForResource: TimeInterval {
            get { settings.withLock { $0.timeoutIntervalForResource ?? 604_800 } }
            set { settings.withLock { $0.timeoutIntervalForResource = newValue } }
        }

        /// This configuration, with `other` where it says nothing.
        func merged(over other: Configuration?) -> Configuration {
            guard let other else { return self }
            var settings = settings.withLock { $0 }
            let others = other.settings.withLock { $0 }
            settings.container = settings.container ?? others.container
            settings.qualityOfService = settings.qualityOfService ?? others.qualityOfService
            settings.allowsCellularAccess = settings.allowsCellularAccess ?? others.allowsCellularAccess
            settings.isLongLived = settings.isLongLived ?? others.isLongLived
            settings.timeoutIntervalForRequest = settings.timeoutIntervalForRequest ?? others.timeoutIntervalForRequest
            settings.timeoutIntervalForResource =
                settings.timeoutIntervalForResource ?? others.timeoutIntervalForResource
            return Configuration(settings)
        }

        /// An independent configuration with the same settings.
        public func copy(with zone: NSZone? = nil) -> Any {
            Configuration(settings.withLock { $0 })
        }
    }
}
