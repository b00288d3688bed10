// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Settings as operations had them before there was a configuration: each is the one of that name there.
extension CKOperation {
    /// Whose work it is; nil for the default container.
    @available(*, deprecated, message: "Use configuration.container")
    public final var container: CKContainer? {
        get { configuration.container }
        set { configuration.container = newValue }
    }

    /// Kept, without meaning here.
    @available(*, deprecated, message: "Use configuration.isLongLived")
    public final var isLongLived: Bool {
        get { configuration.isLongLived }
        set { configuration.isLongLived = newValue }
    }

    /// Kept, without meaning here.
    @available(*, deprecated, message: "Use configuration.allowsCellularAccess")
    public final var allowsCellularAccess: Bool {
        get { configuration.allowsCellularAccess }
        set { configuration.allowsCellularAccess = newValue }
    }

    /// Seconds without progress after which a request is given up.
    @available(*, deprecated, message: "Use configuration.timeoutIntervalForRequest")
    public final var timeoutIntervalForRequest: TimeInterval {
        get { configuration.timeoutIntervalForRequest }
        set { configuration.timeoutIntervalForRequest = newValue }
    }

    /// Seconds after which all of the work is given up.
    @available(*, deprecated, message: "Use configuration.timeoutIntervalForResource")
    public final var timeoutIntervalForResource: TimeInterval {
        get { configuration.timeoutIntervalForResource }
        set { configuration.timeoutIntervalForResource = newValue }
    }
}
