// SPDX-License-Identifier: Apache-2.0

/// How much of an upload the server has.
package struct AssetProgress: Sendable, Equatable {
    package let byteCount: Int64
    package let isComplete: Bool
    /// The hash of a complete upload whose name comes from its content (``AssetUpload/isNamedByContent``).
    package let sha256: [UInt8]?

    package init(byteCount: Int64, isComplete: Bool, sha256: [UInt8]? = nil) {
        self.byteCount = byteCount
        self.isComplete = isComplete
        self.sha256 = sha256
    }

    /// The progress of an upload whose asset the server already has.
    ///
    /// - Parameter sha256: the asset's hash, if the device did not send it.
    package static func complete(_ upload: AssetUpload, sha256: [UInt8]? = nil) -> AssetProgress {
        AssetProgress(byteCount: upload.key.byteCount, isComplete: true, sha256: sha256)
    }
}
