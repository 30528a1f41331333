use http::StatusCode;

macro_rules! faults {
    ($($(#[$doc:meta])* $variant:ident $status:ident $code:literal,)+) => {
        /// Why a request is not let in at all: the connection is closed after the answer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Fault {
            $($(#[$doc])* $variant,)+
        }

        impl Fault {
            /// What the client is told.
            pub(crate) fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status),+ }
            }

            /// The same for programs.
            pub(crate) fn code(self) -> &'static str {
                match self { $(Self::$variant => $code),+ }
            }
        }
    };
}

faults! {
    /// Not `METHOD TARGET HTTP/1.x`.
    RequestLine BAD_REQUEST "bad_request_line",
    /// A version that is neither 1.0 nor 1.1.
    Version HTTP_VERSION_NOT_SUPPORTED "http_version_not_supported",
    /// A line that ends without CR, or a CR that ends no line.
    LineEnd BAD_REQUEST "bare_line_end",
    /// A header field that goes on in the next line.
    Folded BAD_REQUEST "folded_header",
    /// A header field without a proper name, or with control characters.
    Header BAD_REQUEST "bad_header",
    /// HTTP/1.1 without a host.
    HostMissing BAD_REQUEST "host_missing",
    /// More than one host.
    HostRepeated BAD_REQUEST "host_repeated",
    /// A host that is none.
    HostInvalid BAD_REQUEST "bad_host",
    /// More than one `Content-Length`.
    LengthRepeated BAD_REQUEST "content_length_repeated",
    /// A `Content-Length` that is no number.
    LengthInvalid BAD_REQUEST "bad_content_length",
    /// Both `Content-Length` and `Transfer-Encoding`: two readers would see two requests.
    LengthAndEncoding BAD_REQUEST "content_length_and_transfer_encoding",
    /// A `Transfer-Encoding` that is not exactly `chunked`, or more than one.
    Encoding BAD_REQUEST "bad_transfer_encoding",
    /// `CONNECT`: this is no forward proxy.
    Connect METHOD_NOT_ALLOWED "connect_not_allowed",
    /// More header fields than allowed.
    TooManyHeaders REQUEST_HEADER_FIELDS_TOO_LARGE "too_many_headers",
    /// A longer head than allowed.
    TooLarge REQUEST_HEADER_FIELDS_TOO_LARGE "headers_too_large",
    /// A head that did not come to its end in time.
    Slow REQUEST_TIMEOUT "header_timeout",
}
