//! Access tokens: short-lived, signed by this control plane, for one session of one user.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};

/// How long an access token is good for, in seconds.
pub(crate) const LIFETIME_S: i64 = 15 * 60;

/// What signs and checks access tokens.
pub(crate) struct Keys {
    signing: EncodingKey,
    checking: DecodingKey,
    validation: Validation,
}

/// What an access token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// Whose it is.
    pub(crate) sub: String,
    /// Of which session.
    pub(crate) sid: String,
    /// Of which generation of the account.
    pub(crate) generation: i64,
    /// Until when, in seconds since 1970.
    pub(crate) exp: i64,
    /// Since when.
    pub(crate) iat: i64,
}

impl Keys {
    pub(crate) fn new(secret: &str) -> Self {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = 0;
        validation.set_required_spec_claims(&["exp", "sub"]);
        Self {
            signing: EncodingKey::from_secret(secret.as_bytes()),
            checking: DecodingKey::from_secret(secret.as_bytes()),
            validation,
        }
    }

    /// Signs a token; `now` is in milliseconds.
    pub(crate) fn sign(&self, user: &str, session: &str, generation: i64, now: i64) -> Option<String> {
        let iat = now / 1_000;
        let claims = Claims { sub: user.into(), sid: session.into(), generation, exp: iat + LIFETIME_S, iat };
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.signing).ok()
    }

    /// What a token says, if we signed it and it has not expired.
    pub(crate) fn check(&self, token: &str) -> Option<Claims> {
        jsonwebtoken::decode(token, &self.checking, &self.validation).ok().map(|data| data.claims)
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn only_our_own_tokens_of_today_are_good() {
        let (ours, others) = (Keys::new("a"), Keys::new("b"));
        let now = clock::wall();
        let token = ours.sign("ann", "s1", 3, now).unwrap();
        let claims = ours.check(&token).unwrap();
        assert_eq!((claims.sub.as_str(), claims.sid.as_str(), claims.generation), ("ann", "s1", 3));
        assert_eq!(others.check(&token), None);
        let expired = ours.sign("ann", "s1", 3, now - LIFETIME_S * 1_000 - 2_000).unwrap();
        assert_eq!(ours.check(&expired), None);
        for wrong in ["", ".", "..", "x.y.z", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4iLCJleHAiOjk5OTk5OTk5OTl9."]
        {
            assert_eq!(ours.check(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn another_algorithm_is_refused_although_the_key_is_right() {
        let keys = Keys::new("a");
        let claims = Claims { sub: "ann".into(), sid: "s".into(), generation: 1, exp: i64::MAX / 2, iat: 0 };
        let token =
            jsonwebtoken::encode(&Header::new(Algorithm::HS512), &claims, &EncodingKey::from_secret(b"a"))
                .unwrap();
        assert_eq!(keys.check(&token), None);
    }
}
