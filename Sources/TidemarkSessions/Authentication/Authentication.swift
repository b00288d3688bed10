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
        let store: StoreStanding
        switch await service.standing() {
        case .success(let standing): store = standing
        case .failure(let reason): return .refused(Refusal(reason), .tryAgainLater)
        }
        guard let credential = greeting.credential else {
            let nobody = member(greeting, nil, store)
            return .welcome(nobody, answer(to: nobody, store))
        }
        return await identify(greeting, hash: settings.credentialHash(credential), store: store)
    }

    private func identify(_ greeting: Greeting, hash: [UInt8], store: StoreStanding) async -> Outcome {
        let answer = await service.authenticate(
            credentialHash: hash, container: greeting.container, environment: greeting.environment,
            createsContainer: settings.createsContainers, device: greeting.device, deviceName: greeting.shownName)
        switch answer {
        case .success(let identity?):
            let member = member(greeting, identity, store)
            return .welcome(member, self.answer(to: member, store))
        case .success(nil):
            return .refused(
                Refusal(.notAuthenticated, "The credential is unknown, expired or revoked."), .notAuthenticated)
        case .failure(.containerUnknown): return .refused(Refusal(.containerUnknown), .misuse)
        case .failure(let reason): return .refused(Refusal(reason), .tryAgainLater)
        }
    }

    private func member(_ greeting: Greeting, _ identity: Identity?, _ store: StoreStanding) -> SessionMember {
        SessionMember(
            device: greeting.device, life: greeting.life, identity: identity, container: greeting.key,
            store: store.incarnation)
    }

    private func answer(to member: SessionMember, _ store: StoreStanding) -> WireHelloAnswer {
        WireHelloAnswer(
            userRecordName: member.identity?.userRecordName ?? "", now: now(), memoryEpoch: store.memoryEpoch,
            limits: settings.limits, messageBytesMax: settings.messageBytesMax, keepsAssets: settings.keepsAssets,
            serverName: settings.serverName)
    }
}
