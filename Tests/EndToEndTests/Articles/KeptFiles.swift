// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation

/// The code of the article *Files of records*.
func keep(_ asset: CKAsset, as file: URL) throws {
    guard let fetched = asset.fileURL else { return }
    let next = file.appendingPathExtension("new")
    try? FileManager.default.removeItem(at: next)
    try FileManager.default.moveItem(at: fetched, to: next)
    guard rename(next.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
}
