// SPDX-License-Identifier: Apache-2.0

internal import TidemarkService

/// How content and names get onto the disk. Each call returns when they are there.
struct FileDurability: Sendable {
    /// Flushes the bytes that were written so far to an open file.
    var flush: @Sendable (Int32) throws(AssetStoreError) -> Void = FileCalls.synchronizeContent
    /// An open file with all that is known of it.
    var synchronize: @Sendable (Int32) throws(AssetStoreError) -> Void = FileCalls.synchronize
    /// The list of names in a directory.
    var synchronizeDirectory: @Sendable (String) throws(AssetStoreError) -> Void = FileCalls.synchronizeDirectory
}
