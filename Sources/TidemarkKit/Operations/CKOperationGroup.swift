// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Operations that belong together, for example all that one tap of the user starts.
public class CKOperationGroup: NSObject, NSSecureCoding, @unchecked Sendable {
    /// How much data is expected.
    public enum TransferSize: Int, Sendable {
        /// Unknown.
        case unknown = 0
        /// Less than a megabyte.
        case kilobytes = 1
        /// A few megabytes.
        case megabytes = 2
        /// Tens of megabytes.
        case tensOfMegabytes = 3
        /// Hundreds of megabytes.
        case hundredsOfMegabytes = 4
        /// A few gigabytes.
        case gigabytes = 5
        /// Tens of gigabytes.
        case tensOfGigabytes = 6
        /// Hundreds of gigabytes.
        case hundredsOfGigabytes = 7
    }

    private struct Settings {
        var defaultConfiguration = CKOperation.Configuration()
        var name: String?
        var quantity = 0
        var expectedSendSize = TransferSize.unknown
        var expectedReceiveSize = TransferSize.unknown
    }

    /// This group's name in logs, which is unique.
    public let operationGroupID: String

    private let settings: Locked<Settings>

    /// A group without a name.
    public override init() {
        operationGroupID = UUID().uuidString
        settings = Locked(Settings())
        super.init()
    }

    /// The configuration of the group's operations where they have none. Nil sets the default. The value is copied.
    public var defaultConfiguration: CKOperation.Configuration! {
        get { settings.withLock { $0.defaultConfiguration } }
        set {
            let own = (newValue ?? CKOperation.Configuration()).merged(over: nil)
            settings.withLock { $0.defaultConfiguration = own }
        }
    }

    /// A name for people.
    public var name: String? {
        get { settings.withLock { $0.name } }
        set { settings.withLock { $0.name = newValue } }
    }

    /// How many operations the group stands for, if the app says so.
    public var quantity: Int {
        get { settings.withLock { $0.quantity } }
        set { settings.withLock { $0.quantity = newValue } }
    }

    /// How much data is expected to be sent.
    public var expectedSendSize: TransferSize {
        get { settings.withLock { $0.expectedSendSize } }
        set { settings.withLock { $0.expectedSendSize = newValue } }
    }

    /// How much data is expected to be received.
    public var expectedReceiveSize: TransferSize {
        get { settings.withLock { $0.expectedReceiveSize } }
        set { settings.withLock { $0.expectedReceiveSize = newValue } }
    }

    // MARK: NSSecureCoding

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// A group from an archive; a new one if the archive holds none. Archives do not keep the default configuration.
    public required init(coder aDecoder: NSCoder) {
        operationGroupID = aDecoder.optionalString(forKey: "OperationGroupID") ?? UUID().uuidString
        var settings = Settings()
        settings.name = aDecoder.optionalString(forKey: "Name")
        settings.quantity = Int(aDecoder.optionalInt64(forKey: "Quantity") ?? 0)
        func size(_ key: String) -> TransferSize {
            aDecoder.optionalInt64(forKey: key).flatMap { TransferSize(rawValue: Int($0)) } ?? .unknown
        }
        settings.expectedSendSize = size("ExpectedSendSize")
        settings.expectedReceiveSize = size("ExpectedReceiveSize")
        self.settings = Locked(settings)
        super.init()
    }

    /// Writes everything except the default configuration.
    public func encode(with coder: NSCoder) {
        coder.encode(string: operationGroupID, forKey: "OperationGroupID")
        coder.encode(string: name, forKey: "Name")
        coder.encode(Int64(quantity), forKey: "Quantity")
        coder.encode(Int64(expectedSendSize.rawValue), forKey: "ExpectedSendSize")
        coder.encode(Int64(expectedReceiveSize.rawValue), forKey: "ExpectedReceiveSize")
    }
}
