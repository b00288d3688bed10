// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
package import TidemarkFields
package import TidemarkService

/// The files of assets from outside of a ``FileAssetStore``: for backups, and for comparing the files with the
/// database. All calls block.
package enum AssetFiles {
    /// Where a store in the directory keeps the asset.
    package static func path(of asset: AssetKey, in directory: String) -> String {
        FileLayout(directory: directory).file(of: asset)
    }

    /// Where a backup keeps content below its own directory. Databases that have the same content share it.
    package static func path(of content: FieldAsset, inBackup directory: String) -> String {
        let name = Hex.encode(content.sha256)
        return "\(directory)/\(name.prefix(2))/\(name).\(content.byteCount)"
    }

    /// The directory that holds the path's name.
    package static func parent(of path: String) -> String { FileCalls.parent(of: path) }

    /// The size of a file; nil if there is no file of that name. A link is not a file.
    package static func byteCount(of path: String) -> Int64? { FileCalls.status(of: path)?.byteCount }

    /// Gives a file a second name. False if the two are not on one file system, or if the file system has no links.
    package static func link(_ path: String, to other: String) -> Bool {
        (try? FileCalls.link(path, to: other)) != nil
    }

    /// Creates a directory that only its owner can read, and missing ones above it.
    package static func makeDirectory(_ path: String) throws(AssetStoreError) {
        for made in try FileCalls.makeDirectory(path) {
            try FileCalls.synchronizeDirectory(FileCalls.parent(of: made))
        }
    }

    /// Gives only the owner access to a directory, whoever made it.
    package static func closeToOthers(_ path: String) throws(AssetStoreError) { try FileCalls.closeToOthers(path) }

    /// Whether the directory is empty or missing.
    package static func isEmpty(_ path: String) -> Bool { FileCalls.names(in: path).isEmpty }

    /// Waits until the names in a directory are durable.
    package static func synchronizeDirectory(_ path: String) throws(AssetStoreError) {
        try FileCalls.synchronizeDirectory(path)
    }

    /// Waits until a file is on the disk.
    package static func synchronizeFile(_ path: String) throws(AssetStoreError) {
        let descriptor = try FileCalls.openReading(path)
        defer { FileCalls.close(descriptor) }
        try FileCalls.synchronize(descriptor)
    }

    /// Gives a file another name in its directory, which is durable when this returns.
    package static func rename(_ path: String, to other: String) throws(AssetStoreError) {
        try FileCalls.rename(path, to: other)
        try FileCalls.synchronizeDirectory(FileCalls.parent(of: other))
    }

    /// Creates an empty file that only its owner can read. There must be none.
    package static func create(_ path: String) throws(AssetStoreError) {
        FileCalls.close(try FileCalls.openNew(path))
    }

    /// Removes a file. Removing one that does not exist is not an error.
    package static func remove(_ path: String) throws(AssetStoreError) { try FileCalls.remove(path) }

    /// The bytes that may still be written to the path's file system; nil if it cannot be told.
    package static func freeByteCount(at path: String) -> Int64? { FileCalls.freeByteCount(at: path) }
}
