// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKOperation {
    /// How operations are to be done.
    public class Configuration: NSObject, NSCopying, @unchecked Sendable {
        private struct Settings {
            var container: CKContainer?
            var qualityOfService = QualityOfService.default
            var allowsCellularAccess = true
            var isLongLived = false
            var timeoutIntervalForRequest: TimeInterval = 60
            var timeoutIntervalForResource: TimeInterval = 604_800
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
            get { settings.withLock { $0.qualityOfService } }
            set { settings.withLock { $0.qualityOfService = newValue } }
        }

        /// Kept, without meaning here; default true.
        public var allowsCellularAccess: Bool {
            get { settings.withLock { $0.allowsCellularAccess } }
            set { settings.withLock { $0.allowsCellularAccess = newValue } }
        }

        /// Kept, without meaning here; default false.
        public var isLongLived: Bool {
            get { settings.withLock { $0.isLongLived } }
            set { settings.withLock { $0.isLongLived = newValue } }
        }

        /// Seconds without progress after which a request is given up; default 60.
        public var timeoutIntervalForRequest: TimeInterval {
            get { settings.withLock { $0.timeoutIntervalForRequest } }
            set { settings.withLock { $0.timeoutIntervalForRequest = newValue } }
        }

        /// Seconds after which all of the work is given up; default a week.
        public var timeoutIntervalForResource: TimeInterval {
            get { settings.withLock { $0.timeoutIntervalForResource } }
            set { settings.withLock { $0.timeoutIntervalForResource = newValue } }
        }

        /// An independent configuration with the same settings.
        public func copy(with zone: NSZone? = nil) -> Any {
            Configuration(settings.withLock { $0 })
        }
    }
}
