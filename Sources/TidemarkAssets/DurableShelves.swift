// SPDX-License-Identifier: Apache-2.0

/// The directories whose names are known to survive a loss of power. Otherwise an asset could be lost although its file
/// and its shelf are durable: the shelf's own name stands in the directory above it.
struct DurableShelves {
    /// Beyond it everything is forgotten, and made durable once more.
    private static let pathsMax = 65_536

    private var paths: Set<String> = []

    /// Makes the name of a shelf durable, unless it is known to be. Also if the shelf existed already: another server may
    /// have made it a moment ago.
    ///
    /// - Parameters:
    ///   - shelf: the path of a directory of assets.
    ///   - holders: the directories that hold its name and the names above it.
    ///   - synchronize: if it throws, nothing counts as durable.
    mutating func keep<Failure: Error>(
        _ shelf: String, in holders: [String], _ synchronize: (String) throws(Failure) -> Void
    ) throws(Failure) {
        guard !paths.contains(shelf) else { return }
        for holder in holders { try synchronize(holder) }
        if paths.count >= Self.pathsMax { paths = [] }
        paths.insert(shelf)
    }
}
