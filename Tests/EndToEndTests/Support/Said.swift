// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TidemarkKit

/// What the blocks of an operation said, in order.
final class Said: Sendable {
    private let lines = Mutex<[String]>([])

    func say(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}

/// Adds the operation and waits for its `completionBlock`.
func run(_ operation: CKDatabaseOperation, on database: CKDatabase, _ said: Said) async {
    await withCheckedContinuation { continuation in
        operation.completionBlock = {
            said.say("completed")
            continuation.resume()
        }
        database.add(operation)
    }
}

func text(_ error: any Error) -> String { (error as? CKError).map { "\($0.code)" } ?? "\(error)" }

func text<Value>(_ result: Result<Value, any Error>, _ value: (Value) -> String) -> String {
    switch result {
    case .success(let success): value(success)
    case .failure(let error): text(error)
    }
}
