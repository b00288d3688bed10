// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
public import TidemarkKit

/// A device of a ``TestCloud``: the container of an app on it, its network, and its account.
///
/// A test keeps the device, or its container, for as long as the app is to run. An app's own process needs to keep no `CKContainer`
/// but a test has many devices, and each ends when nobody keeps it.
public final class TestDevice: Sendable {
    /// The name given to ``TestAccount/device(_:)``.
    public let name: String
    /// The container for the app under test: a real `CKContainer`. For the server, each engine on its databases is a
    /// separate device, but they share this device's network.
    public let container: CKContainer
    private let core: TestCore
    package let line: DeviceLine

    init(_ name: String, token: String, in core: TestCore) {
        self.name = name
        self.core = core
        line = core.makeLine()
        container = CKContainer(context: core.makeContext(over: line, token: token))
    }

    // MARK: Network

    /// Whether there is a network.
    public var isOnline: Bool { line.isOnline }

    /// Cuts all connections. None begins until ``goOnline()``. After this has returned, requests fail at once with
    /// `networkUnavailable` or `networkFailure`, even while time stands still. Requests of utility or
    /// background quality of service wait, and engines keep their pending changes. Requests under way may have
    /// been carried out. They wait for the network until their time is over, by default 60 seconds of the
    /// cloud's clock.
    public func goOffline() {
        line.setOnline(false)
    }

    /// The network is back, and all code on the device gets the event. Requests that waited are sent, and
    /// engines fetch and send at once.
    public func goOnline() {
        line.setOnline(true)
        container.context.retryNow()
    }

    /// Breaks existing connections. Requests under way are sent again over the next connection, which comes at once,
    /// and are carried out once.
    public func cutConnections() {
        line.cut()
        core.retryNow()
    }

    /// Loses the answer to the next request that saves or deletes something, or accepts a share. The server carries out the request, and
    /// then its connection breaks. The request is sent again, and answered without being carried out twice.
    public func loseNextAnswer() {
        line.loseNextAnswer()
    }

    /// How many answers were lost because of ``loseNextAnswer()``; shows whether it has happened yet.
    public var lostAnswerCount: Int { line.lostAnswerCount }

    /// For this long, the server refuses every request of this device with `requestRateLimited`. It says in
    /// `retryAfterSeconds` how much time is left. Calls then fail without asking it, and engines wait.
    public func throttle(for duration: Duration) {
        line.throttle(for: duration)
    }

    // MARK: The account

    /// Signs in another account, or the same again. Engines tell their delegates. An account of another
    /// cloud is a mistake in the test, and stops it.
    public func signIn(_ account: TestAccount) {
        precondition(account.core === core, "The account \(account.name) is of another TestCloud.")
        container.signIn(token: account.token)
    }

    /// Signs out. Engines tell their delegates.
    public func signOut() {
        container.signOut()
    }
}
