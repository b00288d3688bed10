// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

/// Finds out who says `Hello`.
struct Authentication: Sendable {
    enum Outcome {
        case welcome(SessionMember, WireHelloAnswer)
        case refused(Refusal, SessionClose)
    }

    let service: CloudService
    let settings: SessionSettings
    let now: @Sendable () -> Timestamp

    func answer(_ hello: WireHello) async -> Outcome {
        let greeting: Greeting
        do {
            greeting = try Greeting(hello)
        } catch {
            return .refused(error, error.code == .notAuthenticated ? .notAuthenticated : .misuse)
        }
        let store: StoreIncarnation
        switch await service.incarnation() {
        case .success(let incarnation): store = incarnation
        case .failure(let reason): return .refused(Refusal(reason), .tryAgainLater)
        }
        guard let credential = greeting.credential else {
            let nobody = SessionMember(
                device: greeting.device, identity: nil, container: greeting.key, store: store)
            return .welcome(nobody, answer(to: nobody))
        }
        return await identify(greeting, hash: settings.credentialHash(credential), store: store)
    }

    private func identify(_ greeting: Greeting, hash: [UInt8], store: StoreIncarnation) async -> Outcome {
        let answer = await service.authenticate(
            credentialHash: hash, container: greeting.container, environment: greeting.environment,
            createsContainer: settings.createsContainers, device: greeting.device, deviceName: greeting.shownName)
        switch answer {
        case .success(let identity?):
            let member = SessionMember(
                device: greeting.device, identity: identity, container: greeting.key, store: store)
            return .welcome(member, self.answer(to: member))
        case .success(nil):
            return .refused(
                Refusal(.notAuthenticated, "The credential is unknown, expired or revoked."), .notAuthenticated)
        case .failure(.containerUnknown): return .refused(Refusal(.containerUnknown), .misuse)
        case .failure(let reason): return .refused(Refusal(reason), .tryAgainLater)
        }
    }

    private func answer(to member: SessionMember) -> WireHelloAnswer {
        WireHelloAnswer(
            userRecordName: member.identity?.userRecordName ?? "", now: now(), limits: settings.limits,
            messageBytesMax: settings.messageBytesMax, keepsAssets: settings.keepsAssets,
            serverName: settings.serverName)
    }
}
