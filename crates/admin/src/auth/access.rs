//! Access tokens: short-lived, signed by this control plane, for one session of one user.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};

/// Whom access tokens are for: what the same key signs for somebody else opens nothing here.
const AUDIENCE: &str = "tollgate-admin";

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
    /// Whom it is for.
    aud: String,
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
        validation.set_audience(&[AUDIENCE]);
        validation.set_required_spec_claims(&["exp", "sub", "aud"]);
        Self {
            signing: EncodingKey::from_secret(secret.as_bytes()),
            checking: DecodingKey::from_secret(secret.as_bytes()),
            validation,
        }
    }

    /// Signs a token; `now` is in milliseconds.
    pub(crate) fn sign(&self, user: &str, session: &str, generation: i64, now: i64) -> Option<String> {
        let iat = now / 1_000;
        let (sub, aud, sid) = (user.into(), AUDIENCE.into(), session.into());
        let claims = Claims { sub, aud, sid, generation, exp: iat + LIFETIME_S, iat };
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
    use serde_json::{Value, json};

    /// A time that has not come, in seconds since 1970.
    const FAR: i64 = i64::MAX / 2;

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
        let token = |algorithm| {
            let claims =
                json!({"sub": "ann", "aud": AUDIENCE, "sid": "s", "generation": 1, "exp": FAR, "iat": 0});
            jsonwebtoken::encode(&Header::new(algorithm), &claims, &EncodingKey::from_secret(b"a")).unwrap()
        };
        assert!(keys.check(&token(Algorithm::HS256)).is_some());
        assert_eq!(keys.check(&token(Algorithm::HS512)), None);
    }

    #[test]
    fn what_is_rightly_signed_for_somebody_else_is_refused() {
        let keys = Keys::new("a");
        let check = |audience: Value| {
            let mut claims = json!({"sub": "ann", "sid": "s", "generation": 1, "exp": FAR, "iat": 0});
            if !audience.is_null() {
                claims["aud"] = audience;
            }
            let key = EncodingKey::from_secret(b"a");
            keys.check(&jsonwebtoken::encode(&Header::default(), &claims, &key).unwrap())
        };
        assert!(check(json!(AUDIENCE)).is_some());
        for audience in [json!("tollgate"), json!("tollgate-admin2"), json!(""), json!([]), Value::Null] {
            assert_eq!(check(audience.clone()), None, "{audience}");
        }
    }
}
