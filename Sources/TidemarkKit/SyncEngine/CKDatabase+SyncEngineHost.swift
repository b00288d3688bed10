// SPDX-License-Identifier: Apache-2.0

extension CKDatabase {
    /// Where engines of this database run, unless their configuration says otherwise.
    package var syncEngineHost: SyncEngineHost {
        let (context, scope) = (container.context, scope)
        return SyncEngineHost(scheduler: context.engineScheduler, atWork: context.enginesAtWork) {
            device, returningUser in
            EngineCloud(context: context, scope: scope, device: device, returningUser: returningUser)
        }
    }
}
