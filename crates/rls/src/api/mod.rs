//! What Envoy and its rate limit service say to each other, as far as it is used here.
//!
//! The names and numbers are those of Envoy's API, which is what makes the two understand each other. Fields that nobody
//! reads are left out: they are skipped when they arrive. There is no step in the build that would make these types.

mod description;
mod message;
mod transport;

pub use description::description;
pub use message::{
    Code, DescriptorStatus, Entry, HeaderValue, RateLimit, RateLimitDescriptor, RateLimitRequest,
    RateLimitResponse, Unit,
};
pub use transport::{Call, Client, RateLimitService, Transport};

/// The name of the service.
pub const SERVICE: &str = "envoy.service.ratelimit.v3.RateLimitService";

/// The path of its one method.
pub const METHOD: &str = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
