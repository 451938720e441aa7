//! Access to the driver's task from other tasks.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use strandcast_proto::association::AssociationError;
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::policy::{PathId, Tariff};
use strandcast_proto::time::Instant;
use strandcast_seal::{Access, PublicKey, SealStats};
use tokio::sync::{Notify, oneshot};

use super::core::Core;
use super::slot::ListenEvent;
use super::snapshot::Snapshot;
use super::uplink::Uplink;

pub(super) type Command = Box<dyn FnOnce(&mut Core, Instant) + Send>;

/// Requests from other tasks to the driver's task.
#[derive(Default)]
pub(super) struct Control {
    state: Mutex<State>,
    ended: Notify,
}

#[derive(Default)]
struct State {
    waker: Option<Waker>,
    commands: VecDeque<Command>,
    /// Associations whose mailbox has work for the driver.
    flagged: Vec<AssociationId>,
    stop: bool,
    over: bool,
}

impl Control {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the waker of the driver's task. The task does this before it checks for requests, so that it misses no
    /// request.
    pub fn register(&self, waker: &Waker) {
        let mut state = self.lock();
        if !state.waker.as_ref().is_some_and(|w| w.will_wake(waker)) {
            state.waker = Some(waker.clone());
        }
    }

    pub fn flag(&self, id: AssociationId) {
        let mut state = self.lock();
        state.flagged.push(id);
        if let Some(waker) = &state.waker {
            waker.wake_by_ref();
        }
    }

    pub fn take_flagged(&self, into: &mut Vec<AssociationId>) {
        into.append(&mut self.lock().flagged);
    }

    pub fn next_command(&self) -> Option<Command> {
        self.lock().commands.pop_front()
    }

    pub fn stopped(&self) -> bool {
        self.lock().stop
    }

    /// Records that the driver's task has ended. Calls that still wait return without a result.
    pub fn end(&self) {
        let mut state = self.lock();
        state.over = true;
        let unanswered = std::mem::take(&mut state.commands);
        drop(state);
        drop(unanswered);
        self.ended.notify_waiters();
    }

    pub fn command(&self, command: Command) {
        let mut state = self.lock();
        if !state.over {
            state.commands.push_back(command);
            if let Some(waker) = &state.waker {
                waker.wake_by_ref();
            }
        }
    }
}

/// A driver that is running. Clones refer to the same driver. The driver continues to run when all clones are dropped.
#[derive(Clone)]
pub struct Driver {
    control: Arc<Control>,
    locals: Arc<[SocketAddr]>,
}

impl Driver {
    pub(super) fn new(control: Arc<Control>, locals: Vec<SocketAddr>) -> Self {
        Driver { control, locals: locals.into() }
    }

    /// The addresses of the driver's sockets when the driver was started.
    pub fn local_addrs(&self) -> &[SocketAddr] {
        &self.locals
    }

    /// Calls `f` inside the driver's loop and returns the result. Returns `None` if the loop has ended.
    pub async fn with_endpoint<T: Send + 'static>(
        &self,
        f: impl FnOnce(Instant, &mut Endpoint) -> T + Send + 'static,
    ) -> Option<T> {
        self.call(|core, now| f(now, core.endpoint_mut())).await
    }

    pub(super) async fn call<T: Send + 'static>(
        &self,
        f: impl FnOnce(&mut Core, Instant) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.control.command(Box::new(move |core, now| {
            // The caller may have been dropped meanwhile.
            let _ = answer.send(f(core, now));
        }));
        answered.await.ok()
    }

    /// The current statistics of an association. `None` if the association has already been released.
    pub async fn snapshot(&self, id: AssociationId) -> Option<Snapshot> {
        self.call(move |core, now| {
            core.publish_waits(now);
            Snapshot::of(core.endpoint(), id, &core.sockets.link_metadata.lock(), now)
        })
        .await?
    }

    /// Returns the events of the listening sockets since the last call. There is an event when the driver replaces an
    /// unusable socket.
    pub async fn listen_events(&self) -> Vec<ListenEvent> {
        self.call(|core, _| core.sockets.events.drain(..).collect()).await.unwrap_or_default()
    }

    /// Replaces the list of keys that may connect. The streams of senders whose keys are not on the list end at once.
    pub async fn set_access(&self, access: Access) {
        self.call(|core, now| core.sealed.set_access(now, access)).await;
    }

    /// The key that an association's peer has proven. `None` without a seal, during the handshake, and after the end of
    /// the association.
    pub async fn peer_key(&self, id: AssociationId) -> Option<PublicKey> {
        self.call(move |core, _| core.sealed.peer(id)).await?
    }

    /// Counters of the seal, or `None` if there is no seal.
    pub async fn seal_stats(&self) -> Option<SealStats> {
        self.call(|core, _| core.sealed.seal_stats()).await?
    }

    /// Adds a path to an association of this client. If the path is lost, the driver opens the path again. After a
    /// system error the driver tries again every second.
    ///
    /// # Errors
    /// [`AssociationError`].
    pub async fn add_path(&self, id: AssociationId, uplink: Uplink) -> Result<(), AssociationError> {
        let add = move |core: &mut Core, now| {
            let known = core.endpoint().association(id).ok_or(AssociationError::Unknown)?;
            if known.is_closed() {
                return Err(AssociationError::Unknown);
            }
            core.sockets.add_uplink(uplink, Some(id));
            core.reconcile_interfaces(now);
            Ok(())
        };
        self.call(add).await.unwrap_or(Err(AssociationError::Unknown))
    }

    /// Closes a path for good.
    ///
    /// # Errors
    /// [`AssociationError`].
    pub async fn remove_path(&self, id: AssociationId, path: PathId) -> Result<(), AssociationError> {
        let remove = move |core: &mut Core, now| {
            let tuple = core.endpoint().association(id).and_then(|a| a.tuple(path));
            let link =
                tuple.map(|tuple| tuple.link).filter(|l| core.sockets.uplinks.iter().any(|u| u.id == *l));
            let others = core.endpoint().association(id).into_iter().flat_map(|a| a.paths());
            let beside: Vec<PathId> =
                others.filter(|p| Some(p.link) == link && p.id != path).map(|p| p.id).collect();
            for other in beside {
                // The path is another route of the same uplink, or a closed path.
                let _ = core.endpoint_mut().with(id, |a| a.remove_path(now, other));
            }
            core.endpoint_mut().with(id, |a| a.remove_path(now, path))?;
            if let Some(link) = link {
                core.sockets.forget(link);
            }
            Ok(())
        };
        self.call(remove).await.unwrap_or(Err(AssociationError::Unknown))
    }

    /// Suspends a path if `suspended` is true; otherwise resumes it. The suspension applies to both sides.
    ///
    /// # Errors
    /// [`AssociationError`].
    pub async fn suspend_path(
        &self,
        id: AssociationId,
        path: PathId,
        suspended: bool,
    ) -> Result<(), AssociationError> {
        let suspend =
            move |now, endpoint: &mut Endpoint| endpoint.with(id, |a| a.suspend_path(now, path, suspended));
        self.with_endpoint(suspend).await.unwrap_or(Err(AssociationError::Unknown))
    }

    /// Sets the cost of an association's data on the uplink with the name `link`, from now on. The uplink may be added
    /// later. See [`set_tariff`](strandcast_proto::association::Association::set_tariff). [`Tariff::until`] is a time
    /// on the driver's clock.
    ///
    /// # Errors
    /// [`AssociationError::Unknown`].
    pub async fn set_tariff(
        &self,
        id: AssociationId,
        link: &str,
        tariff: Tariff,
    ) -> Result<(), AssociationError> {
        let name = link.to_owned();
        let set = move |core: &mut Core, now| {
            let names = core.sockets.link_metadata.lock().names.clone();
            let links = names.into_iter().filter(|(_, n)| *n == name).map(|(link, _)| link);
            core.endpoint_mut().with(id, |association| {
                links.for_each(|link| association.set_tariff(now, link, tariff));
                Ok(())
            })?;
            core.sockets.tariffs.retain(|(known, _)| *known != name);
            core.sockets.tariffs.push((name, tariff));
            Ok(())
        };
        self.call(set).await.unwrap_or(Err(AssociationError::Unknown))
    }

    /// Ends the driver at once, whatever the state of its associations. The peers are not notified.
    pub fn stop(&self) {
        let mut state = self.control.lock();
        state.stop = true;
        if let Some(waker) = &state.waker {
            waker.wake_by_ref();
        }
    }

    /// Waits until the driver has ended. The driver of a client runs for a short time after its association was
    /// released. In this time, the peer can request the last chunk again if it missed it.
    pub async fn finished(&self) {
        let ended = self.control.ended.notified();
        let mut ended = std::pin::pin!(ended);
        ended.as_mut().enable();
        if !self.control.lock().over {
            ended.await;
        }
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("locals", &self.locals).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").finish_non_exhaustive()
    }
}
