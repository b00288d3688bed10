import TidemarkSockets

struct SocketTransport: CloudTransport {
    init(configuration: TidemarkConfiguration, loop: EventLoop) {}
    func open(observer: any CloudChannelObserver) -> any CloudChannel { preconditionFailure() }
}
