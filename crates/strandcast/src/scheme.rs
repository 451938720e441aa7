//! The scheme of an association.

use std::fmt;
use std::sync::Arc;

use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{EndpointConfig, SchemeFactory};
use strandcast_proto::policy::Scheme as Policies;
use strandcast_proto::rfc;

/// Sets what a scheme needs of the transport.
type Tune = Arc<dyn Fn(&mut TransportConfig) + Send + Sync>;

/// Decides windows, paths and retransmissions: a preset with its parameters, or policies of one's own. It makes the policies of any
/// number of associations, and sets what they need of the transport.
#[derive(Clone)]
pub struct Scheme {
    name: String,
    tune: Tune,
    build: SchemeFactory,
}

impl Scheme {
    /// The scheme that a spec names, as `strand` or `cmt,rtx=ssthresh`.
    ///
    /// # Errors
    /// [`SpecError`](strandcast_schemes::SpecError), which says in one line what is possible instead.
    #[cfg(feature = "schemes")]
    pub fn new(spec: &str) -> Result<Scheme, strandcast_schemes::SpecError> {
        let plan = Arc::new(strandcast_schemes::parse_spec(spec)?);
        let tuned = Arc::clone(&plan);
        let tune = move |config: &mut TransportConfig| tuned.tune(config);
        Ok(Scheme::custom(spec, tune, Arc::new(move |seeds| plan.build(seeds))))
    }

    /// Policies of one's own: `tune` sets what they need of the transport, `build` makes those of an association.
    pub fn custom(
        name: impl Into<String>,
        tune: impl Fn(&mut TransportConfig) + Send + Sync + 'static,
        build: SchemeFactory,
    ) -> Scheme {
        Scheme { name: name.into(), tune: Arc::new(tune), build }
    }

    /// RFC 9260's own policies: new data leave by the primary path.
    pub fn rfc9260() -> Scheme {
        Scheme::custom("rfc9260", |_| (), Arc::new(|_| Box::new(rfc::scheme())))
    }

    /// The same under another name.
    #[must_use]
    pub fn named(self, name: &str) -> Scheme {
        Scheme { name: name.to_owned(), ..self }
    }

    /// What it was named by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The policies of one association, whose random draws come from `seeds`.
    pub fn build(&self, seeds: &strandcast_proto::seeds::Seeds) -> Box<dyn Policies> {
        (self.build)(seeds)
    }

    /// An endpoint with this transport, tuned for the scheme. With `accepts`, it accepts associations, which get this scheme.
    pub fn endpoint(&self, mut transport: TransportConfig, accepts: bool) -> EndpointConfig {
        (self.tune)(&mut transport);
        EndpointConfig {
            transport: Arc::new(transport),
            accept: accepts.then(|| Arc::clone(&self.build)),
            ..EndpointConfig::default()
        }
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scheme").field(&self.name).finish()
    }
}
