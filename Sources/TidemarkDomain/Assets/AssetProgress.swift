// SPDX-License-Identifier: Apache-2.0

/// How far an upload is.
package struct AssetProgress: Sendable, Equatable {
    package let byteCount: Int64
    package let isComplete: Bool
    /// The hash of an upload that is complete and that its content was to name (``AssetUpload/isNamedByContent``).
    package let sha256: [UInt8]?

    package init(byteCount: Int64, isComplete: Bool, sha256: [UInt8]? = nil) {
        self.byteCount = byteCount
        self.isComplete = isComplete
        self.sha256 = sha256
    }

    /// Of an upload whose asset is there.
    ///
    /// - Parameter sha256: if the device did not say it.
    package static func complete(_ upload: AssetUpload, sha256: [UInt8]? = nil) -> AssetProgress {
        AssetProgress(byteCount: upload.key.byteCount, isComplete: true, sha256: sha256)
    }
}
