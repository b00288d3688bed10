// SPDX-License-Identifier: Apache-2.0

/// How far an upload is.
package struct AssetProgress: Sendable, Equatable {
    package let byteCount: Int64
    package let isComplete: Bool

    package init(byteCount: Int64, isComplete: Bool) {
        self.byteCount = byteCount
        self.isComplete = isComplete
    }

    /// Of an upload whose asset is there.
    package static func complete(_ upload: AssetUpload) -> AssetProgress {
        AssetProgress(byteCount: upload.key.byteCount, isComplete: true)
    }
}
