// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A piece of work for a server, to be added to a queue, a container or a database.
///
/// Its blocks are called one after another, on a serial queue of the operation's own and never on the main queue: progress,
/// items, zones, the result of the whole, and then `completionBlock`. A block may wait for other CloudKit calls.
/// Set everything before it starts; an operation runs once.
open class CKOperation: Operation, @unchecked Sendable {
    /// Names an operation in logs.
    public typealias ID = String

    /// This operation's name: new for each.
    public let operationID: CKOperation.ID = UUID().uuidString

    private enum Phase {
        case waiting, executing, finished
    }

    private struct State {
        var configuration = Configuration()
        var group: CKOperationGroup?
        var phase = Phase.waiting
        var task: Task<Void, Never>?
    }

    private let state = Locked(State())
    final let executor = OperationExecutor()

    /// An operation with the default configuration.
    public override init() {
        super.init()
    }

    /// How the work is to be done. Nil sets the default. What is set is copied: one configuration can be given to many
    /// operations, and changed in each.
    public var configuration: CKOperation.Configuration! {
        get { state.withLock { $0.configuration } }
        set {
            let own = (newValue ?? Configuration()).merged(over: nil)
            state.withLock { $0.configuration = own }
        }
    }

    /// The operations that this one belongs to.
    public var group: CKOperationGroup? {
        get { state.withLock { $0.group } }
        set { state.withLock { $0.group = newValue } }
    }

    /// Called if a long-lived operation was persisted: never, there are none.
    public final var longLivedOperationWasPersistedBlock: (() -> Void)?

    /// The configuration that holds: the operation's own, its group's, the default.
    final var effectiveConfiguration: Configuration {
        state.withLock { $0.configuration.merged(over: $0.group?.defaultConfiguration) }
    }

    /// Does the work and calls the blocks. If the operation was cancelled the task is cancelled as well, and every request
    /// fails with `operationCancelled`.
    func perform() async {}

    // MARK: Operation

    /// True.
    open override var isAsynchronous: Bool { true }

    /// Whether the work is under way.
    open override var isExecuting: Bool { state.withLock { $0.phase == .executing } }

    /// Whether all blocks but `completionBlock` have been called.
    open override var isFinished: Bool { state.withLock { $0.phase == .finished } }

    /// Begins the work. Queues call it; so may an app, once.
    open override func start() {
        willChangeValue(for: \.isExecuting)
        let priority = priority
        state.withLock { state in
            guard state.phase == .waiting else { return }
            state.phase = .executing
            state.task = Task.detached(executorPreference: executor, priority: priority) { [self] in
                // What was cancelled before it began asks for nothing. From here on ``cancel()`` has the task.
                if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
                await perform()
                finish()
            }
        }
        didChangeValue(for: \.isExecuting)
    }

    /// As urgent as the operation is, or else its configuration or its group.
    final var effectiveQualityOfService: QualityOfService {
        let own = qualityOfService
        return own == .default ? effectiveConfiguration.qualityOfService : own
    }

    /// The same for tasks.
    final var priority: TaskPriority? {
        switch effectiveQualityOfService {
        case .userInteractive, .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        case .default: nil
        @unknown default: nil
        }
    }

    private func finish() {
        willChangeValue(for: \.isExecuting)
        willChangeValue(for: \.isFinished)
        state.withLock { state in
            state.phase = .finished
            state.task = nil
        }
        didChangeValue(for: \.isExecuting)
        didChangeValue(for: \.isFinished)
    }

    /// Gives the work up: items that have not been told of are not told of any more, and the result is
    /// `operationCancelled`. What was sent may still be carried out.
    open override func cancel() {
        super.cancel()
        state.withLock { $0.task }?.cancel()
    }
}
