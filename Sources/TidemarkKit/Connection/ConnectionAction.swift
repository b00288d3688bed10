// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

extension ConnectionMachine {
    /// When something happens, on two clocks that nobody can set.
    struct Moment {
        /// Stands still while the machine sleeps, as timers do.
        let monotonic: Duration
        /// Goes on meanwhile.
        let withSleep: Duration

        func later(by duration: Duration) -> Moment {
            Moment(monotonic: monotonic + duration, withSleep: withSleep + duration)
        }
    }

    /// The actions of the driver, in this order.
    enum Action {
        case connect
        case closeChannel
        case send([UInt8])
        case wakeUp(after: Duration)
        /// The most bytes of a part of an asset at this server.
        case limitChunks(Int)
        /// Give the device a new life, by ``ConnectionMachine/begin(life:)``.
        case renewLife
        /// Give the device a new identity, by ``ConnectionMachine/replace(device:)``.
        case replaceDevice
        case answer(UInt64, Result<WireServerEnvelope, RequestFailure>, RequestMark)
        case notify(Notification)
    }

    /// The events that observers get.
    enum Notification: Equatable {
        case connected(userRecordName: String)
        /// The first failure after a connection, not each further one.
        case disconnected
        case refused(WireErrorCode)
        case push(WirePush)
        case presence(WirePresencePush)
        /// Another device has the identity that this one had. This is the new one, to be kept.
        case deviceReplaced([UInt8])
        /// A warning from the server.
        case warned(String)
        /// Pushes were sent that did not arrive.
        case pushesLost
    }
}
