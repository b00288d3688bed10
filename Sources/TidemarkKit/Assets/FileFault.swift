// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Why the system refuses a file. This is the one place that decides, by the error number, whose fault that is.
struct FileFault {
    /// The system's error number.
    let number: Int32

    /// The remedy for a fault of the device, which may pass by itself. Nil for a fault of the file: somebody must correct it.
    var remedy: String? {
        switch number {
        case EMFILE, ENFILE: "Too many files are open. Close some."
        case ENOMEM: "There is too little memory. End other work."
        case EAGAIN, EBUSY, EINTR: "It is in use. Wait a moment."
        case EIO, ESTALE, ETIMEDOUT: "The disk, or the network to it, fails. Check it."
        case ENOSPC, EDQUOT: "The disk is full. Make room."
        default: nil
        }
    }

    /// The error for the app. Unlike a failure of the server, it names the system's error.
    ///
    /// - Parameters:
    ///   - what: what cannot be done, as a sentence.
    ///   - advice: what to do if it is the file's fault.
    func error(_ what: String, advice: String) -> CKError {
        var userInfo: [String: Any] = [NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(number))]
        if remedy != nil { userInfo[CKError.passingKey] = true }
        let way = remedy.map { "\($0) Then try again. A sync engine does so by itself." } ?? advice
        return CKError(.assetNotAvailable, message: "\(what) \(way)", userInfo: userInfo)
    }
}

extension CKError {
    static let passingKey = "TidemarkFailurePasses"

    /// Whether the device failed, and not the record. Other records may go on.
    var isPassing: Bool { userInfo[Self.passingKey] as? Bool == true }
}
