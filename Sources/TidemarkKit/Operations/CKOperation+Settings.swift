// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Older settings of operations. Each is the setting of that name in the configuration.
extension CKOperation {
    /// The container of the work; nil for the default container.
    @available(*, deprecated, message: "Use configuration.container")
    public final var container: CKContainer? {
        get { configuration.container }
        set { configuration.container = newValue }
    }

    /// Stored, without effect here.
    @available(*, deprecated, message: "Use configuration.isLongLived")
    public final var isLongLived: Bool {
        get { configuration.isLongLived }
        set { configuration.isLongLived = newValue }
    }

    /// Stored, without effect here.
    @available(*, deprecated, message: "Use configuration.allowsCellularAccess")
    public final var allowsCellularAccess: Bool {
        get { configuration.allowsCellularAccess }
        set { configuration.allowsCellularAccess = newValue }
    }

    /// The seconds without progress after which a request fails.
    @available(*, deprecated, message: "Use configuration.timeoutIntervalForRequest")
    public final var timeoutIntervalForRequest: TimeInterval {
        get { configuration.timeoutIntervalForRequest }
        set { configuration.timeoutIntervalForRequest = newValue }
    }

    /// The seconds after which the whole work fails.
    @available(*, deprecated, message: "Use configuration.timeoutIntervalForResource")
    public final var timeoutIntervalForResource: TimeInterval {
        get { configuration.timeoutIntervalForResource }
        set { configuration.timeoutIntervalForResource = newValue }
    }
}
