// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Work for a server. Add it to a queue, a container or a database.
///
/// Its blocks are called one after another, on a serial queue of the operation and never on the main queue. The order
/// is progress, items, zones, the result of the operation, and then `completionBlock`. A block may wait for
/// other CloudKit calls. Set everything before it starts. An operation runs once.
open class CKOperation: Operation, @unchecked Sendable {
    /// The name of an operation in logs.
    public typealias ID = String

    /// This operation's name, which is unique.
    public let operationID: CKOperation.ID = UUID().uuidString

    private enum Phase {
        case waiting, executing, finished
    }

    private struct State {
        var configuration = Configuration()
        /// The configuration in effect when the work began.
        var begun: Configuration?
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

    /// How the work should be carried out. Nil sets the default. The value is copied, so one configuration can be given
    /// to many operations and changed in each.
    public var configuration: CKOperation.Configuration! {
        get { state.withLock { $0.configuration } }
        set {
            let own = (newValue ?? Configuration()).merged(over: nil)
            state.withLock { $0.configuration = own }
        }
    }

    /// The group to which the operation belongs.
    public var group: CKOperationGroup? {
        get { state.withLock { $0.group } }
        set { state.withLock { $0.group = newValue } }
    }

    /// Never called: there are no long-lived operations.
    public final var longLivedOperationWasPersistedBlock: (() -> Void)?

    /// The configuration in effect: the operation's own, then its group's, then the default. From the start on it
    /// stays the same.
    final var effectiveConfiguration: Configuration {
        state.withLock { $0.begun ?? $0.configuration.merged(over: $0.group?.defaultConfiguration) }
    }

    /// Does the work and calls the blocks. If the operation is cancelled, the task is cancelled too, and every request
    /// fails with `operationCancelled`.
    func perform() async {}

    // MARK: Operation

    /// True.
    open override var isAsynchronous: Bool { true }

    /// Whether the work is under way.
    open override var isExecuting: Bool { state.withLock { $0.phase == .executing } }

    /// Whether all blocks except `completionBlock` have been called.
    open override var isFinished: Bool { state.withLock { $0.phase == .finished } }

    /// Begins the work. Queues call it, and an app may call it once.
    open override func start() {
        willChangeValue(for: \.isExecuting)
        let (priority, configuration) = (priority, effectiveConfiguration)
        state.withLock { state in
            guard state.phase == .waiting else { return }
            state.phase = .executing
            state.begun = configuration
            state.task = Task.detached(executorPreference: executor, priority: priority) { [self] in
                // An operation that was cancelled before it began sends nothing. From here on ``cancel()`` cancels the
                // task.
                if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
                await perform()
                finish()
            }
        }
        didChangeValue(for: \.isExecuting)
    }

    /// The urgency of the operation, or else of its configuration or its group.
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

    /// Cancels the work. Items that have not been reported are no longer reported, and the result is
    /// `operationCancelled`. A request that was sent may still be carried out.
    open override func cancel() {
        super.cancel()
        state.withLock { $0.task }?.cancel()
    }
}
