//! The scheme of an association.

use std::fmt;
use std::sync::Arc;

use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{EndpointConfig, SchemeFactory};
use strandcast_proto::policy::Scheme as Policies;
use strandcast_proto::rfc;

/// Function that sets the parameters of the transport that a scheme needs.
type Tune = Arc<dyn Fn(&mut TransportConfig) + Send + Sync>;

/// Scheme that decides on windows, paths and retransmissions. It is a preset with its parameters, or consists of custom
/// policies. It makes the policies of any number of associations, and sets the parameters of the transport that they
/// need.
#[derive(Clone)]
pub struct Scheme {
    name: String,
    pub(crate) tune: Tune,
    pub(crate) build: SchemeFactory,
}

impl Scheme {
    /// Returns the scheme of a spec, such as `strand` or `cmt,rtx=ssthresh`.
    ///
    /// # Errors
    /// [`SpecError`](strandcast_schemes::SpecError), which lists the possible values in one line.
    #[cfg(feature = "schemes")]
    pub fn new(spec: &str) -> Result<Scheme, strandcast_schemes::SpecError> {
        let plan = Arc::new(strandcast_schemes::parse_spec(spec)?);
        let tuned = Arc::clone(&plan);
        let tune = move |config: &mut TransportConfig| tuned.tune(config);
        Ok(Scheme::custom(spec, tune, Arc::new(move |seeds| plan.build(seeds))))
    }

    /// Makes a scheme of custom policies. `tune` sets the parameters of the transport that they need, and `build` makes
    /// the policies of an association.
    pub fn custom(
        name: impl Into<String>,
        tune: impl Fn(&mut TransportConfig) + Send + Sync + 'static,
        build: SchemeFactory,
    ) -> Scheme {
        Scheme { name: name.into(), tune: Arc::new(tune), build }
    }

    /// Returns the scheme of RFC 9260, in which new data use the primary path.
    pub fn rfc9260() -> Scheme {
        Scheme::custom("rfc9260", |_| (), Arc::new(|_| Box::new(rfc::scheme())))
    }

    /// Returns the scheme with another name.
    #[must_use]
    pub fn named(self, name: &str) -> Scheme {
        Scheme { name: name.to_owned(), ..self }
    }

    /// Name of the scheme.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes the policies of one association. The random draws of these policies come from `seeds`.
    pub fn build(&self, seeds: &strandcast_proto::seeds::Seeds) -> Box<dyn Policies> {
        (self.build)(seeds)
    }

    /// Returns the configuration of an endpoint with this transport, tuned for the scheme. With `accepts` the endpoint
    /// accepts associations, which use this scheme.
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
