use prost::{Enumeration, Message};
use prost_types::Struct;

/// A call: may this pass?
#[derive(Clone, PartialEq, Message)]
pub struct RateLimitRequest {
    /// Which configuration it is about.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// What it is about; all of it must pass.
    #[prost(message, repeated, tag = "2")]
    pub descriptors: Vec<RateLimitDescriptor>,
    /// How much it counts; zero if nothing is said.
    #[prost(uint32, tag = "3")]
    pub hits_addend: u32,
}

/// One thing to be limited.
#[derive(Clone, PartialEq, Message)]
pub struct RateLimitDescriptor {
    /// What is known of it.
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<Entry>,
    /// How much it counts, instead of what the call says. Its wrapper is the message that the API has there.
    #[prost(message, optional, tag = "3")]
    pub hits_addend: Option<u64>,
    /// Whether that much is given back instead.
    #[prost(bool, tag = "4")]
    pub is_negative_hits: bool,
}

/// A key and a value.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Entry {
    /// The key.
    #[prost(string, tag = "1")]
    pub key: String,
    /// The value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// The answer to a call.
#[derive(Clone, PartialEq, Message)]
pub struct RateLimitResponse {
    /// Whether it may pass.
    #[prost(enumeration = "Code", tag = "1")]
    pub overall_code: i32,
    /// What became of each descriptor.
    #[prost(message, repeated, tag = "2")]
    pub statuses: Vec<DescriptorStatus>,
    /// Headers for the client.
    #[prost(message, repeated, tag = "3")]
    pub response_headers_to_add: Vec<HeaderValue>,
    /// Headers for the server.
    #[prost(message, repeated, tag = "4")]
    pub request_headers_to_add: Vec<HeaderValue>,
    /// What a client reads whose request may not pass.
    #[prost(bytes = "vec", tag = "5")]
    pub raw_body: Vec<u8>,
    /// What other filters and the access log can see.
    #[prost(message, optional, tag = "6")]
    pub dynamic_metadata: Option<Struct>,
}

/// What became of one descriptor.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct DescriptorStatus {
    /// Whether it may pass.
    #[prost(enumeration = "Code", tag = "1")]
    pub code: i32,
    /// The limit that holds for it.
    #[prost(message, optional, tag = "2")]
    pub current_limit: Option<RateLimit>,
    /// What is left.
    #[prost(uint32, tag = "3")]
    pub limit_remaining: u32,
    /// How long until all is there again.
    #[prost(message, optional, tag = "4")]
    pub duration_until_reset: Option<prost_types::Duration>,
}

/// A limit.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct RateLimit {
    /// How much in a unit of time.
    #[prost(uint32, tag = "1")]
    pub requests_per_unit: u32,
    /// The unit of time.
    #[prost(enumeration = "Unit", tag = "2")]
    pub unit: i32,
    /// What it is called.
    #[prost(string, tag = "3")]
    pub name: String,
}

/// A header field.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct HeaderValue {
    /// Its name.
    #[prost(string, tag = "1")]
    pub key: String,
    /// Its value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// Whether something may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub enum Code {
    /// Nobody can tell.
    Unknown = 0,
    /// It may.
    Ok = 1,
    /// It may not.
    OverLimit = 2,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub enum Unit {
    /// Not said.
    Unknown = 0,
    /// A second.
    Second = 1,
    /// A minute.
    Minute = 2,
    /// An hour.
    Hour = 3,
    /// A day.
    Day = 4,
    /// A month.
    Month = 5,
    /// A year.
    Year = 6,
    /// A week.
    Week = 7,
}
