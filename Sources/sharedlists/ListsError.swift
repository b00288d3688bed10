// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Why a command was not carried out, in words for the person who typed it.
enum ListsError: Error, Equatable, LocalizedError, CustomStringConvertible {
    case commandUnknown(String)
    case unknown(String)
    case ambiguous(String)
    case notOwner(String)
    case ownList(String)
    case readOnly(String)
    case otherOwner
    case notShared(String)
    case notSent(String)
    case memberUnknown(String)
    case linkInvalid(String)
    case noLink(String)
    case notSettled

    var description: String {
        switch self {
        case .commandUnknown(let line): "\(line) is no command. See: sharedlists --help"
        case .unknown(let name): "There is nothing named \(name). See: show"
        case .ambiguous(let name): "Several things are named \(name). Give the ID that show tells."
        case .notOwner(let name): "Only the owner of \(name) may do that. To give it up for yourself: leave \(name)"
        case .ownList(let name): "\(name) is your own list. To end the sharing: stop \(name)"
        case .readOnly(let name): "You may only read \(name)."
        case .otherOwner: "An item moves between lists of the same owner only."
        case .notShared(let name): "\(name) is not shared. Share it: share \(name) write"
        case .notSent(let name): "\(name) is not on the server yet. Sync it first: sync"
        case .memberUnknown(let name): "Nobody, or more than one person, is named \(name). See: show"
        case .linkInvalid(let link): "\(link) is no link to a list that is shared with you."
        case .noLink(let name): "The server has told no link to \(name). Try it again."
        case .notSettled: "Other devices keep changing the same things. Sync again."
        }
    }

    var errorDescription: String? { description }
}
